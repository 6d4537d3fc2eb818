import { parentPort, workerData } from 'node:worker_threads'
import { openRawTable } from './raw-table.mjs'

/** A thread that commits each event that comes, and answers with an empty message. The first one says that it is up. */
const { commit } = await openRawTable(workerData)
parentPort.on('message', delivery => {
  commit([delivery])
  parentPort.postMessage(null)
})
parentPort.postMessage(null)

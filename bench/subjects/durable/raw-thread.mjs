import { parentPort, workerData } from 'node:worker_threads'
import { openRawTable } from './raw-table.mjs'

/** A thread that commits each event and replies with an empty message. The first message reports that it is ready. */
const { commit } = await openRawTable(workerData)
parentPort.on('message', delivery => {
  commit([delivery])
  parentPort.postMessage(null)
})
parentPort.postMessage(null)

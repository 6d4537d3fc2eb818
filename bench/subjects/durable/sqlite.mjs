import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { sqliteInbox } from '@ackhook/sqlite'
import { compareAccepting } from './accepting.mjs'
import { accepted, nextDelivery, started } from './inbox.mjs'
import { openRawTable } from './raw-table.mjs'

const ALONE = 'transaction each'
const IN_THREAD = 'transaction each, in a thread'
const TOGETHER = 'raw group commit'
const OURS = 'sqliteInbox'

/** Measures storing events on disk, with fsync before each acknowledgement and without handlers. */
export async function measureSqlite(folder, quick) {
  const inbox = await started(sqliteInbox(join(folder, 'inbox.db')))
  const raw = await openRaw(join(folder, 'raw.db'))
  const thread = await openRawThread(join(folder, 'thread.db'))
  const ways = {
    [ALONE]: async () => raw.insertAlone(nextDelivery()),
    [IN_THREAD]: () => thread.insert(nextDelivery()),
    [TOGETHER]: () => raw.insertTogether(nextDelivery()),
    [OURS]: () => accepted(inbox),
  }
  const raws = { 1: ALONE, 64: TOGETHER, 256: TOGETHER }
  const { markdown, steps } = await compareAccepting(ways, { raw: raws, quick })
  await inbox.close(1000)
  raw.close()
  await thread.close()
  return {
    markdown: `### SQLite, accepting\n\nfsync before each acknowledgement; nothing is handled meanwhile. The raw ways write with the same driver: one transaction per event or per turn of the event loop, both on the main thread; and one transaction per event in a thread, with a message to it and one back.\n\n${markdown}`,
    figures: {
      perSecond: steps[64].intervalOf('perSecond', OURS),
      toGroupCommit: steps[64].ratioOf('perSecond', OURS, TOGETHER),
      loopP99Ms: steps[64].intervalOf('loopP99Ms', OURS),
      toThreadP50: steps[1].ratioOf('p50Ms', OURS, IN_THREAD),
    },
  }
}

/** Ways with the same durability, without an inbox. */
async function openRaw(path) {
  const { commit, close } = await openRawTable(path)
  let waiting = []
  return {
    insertAlone: delivery => commit([delivery]),
    insertTogether(delivery) {
      return new Promise(resolve => {
        if (waiting.push({ delivery, resolve }) > 1) return
        setImmediate(() => {
          const group = waiting
          waiting = []
          commit(group.map(one => one.delivery))
          for (const one of group) one.resolve()
        })
      })
    },
    close,
  }
}

/** Runs `insertAlone` in a thread, with one message each way: the least that keeps commits off the event loop. */
async function openRawThread(path) {
  const thread = new Worker(new URL('./raw-thread.mjs', import.meta.url), { workerData: path })
  const waiting = []
  await once(thread, 'message')
  thread.on('message', () => waiting.shift()())
  return {
    insert(delivery) {
      return new Promise(resolve => {
        waiting.push(resolve)
        thread.postMessage(delivery)
      })
    },
    close: () => thread.terminate(),
  }
}

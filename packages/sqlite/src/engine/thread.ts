import { existsSync, statSync } from 'node:fs'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { Batch, Terms } from '../protocol.ts'
import { loadDriver } from '../storage/driver.ts'
import { type Fault, FaultError, faultOf } from '../storage/fault.ts'
import { endOrphanedLeases } from '../storage/leases/orphaned.ts'
import { createStorage, type Storage } from '../storage/storage.ts'
import { startPruning, startRenewing } from './background.ts'
import { NO_TERMS } from './engine.ts'
import type { FromThread, ThreadData, ToThread } from './thread-messages.ts'

/**
 * For so many leases the application may say nothing before its leases are left to lapse: a handler that blocks
 * it keeps its event for a while, and one that never ends does not keep it for ever.
 */
const SILENT_LEASES = 6

/** The thread that works on the file, so that no wait for the disk is a wait of the application. */
async function main(port: MessagePort, { path, isFirst }: ThreadData): Promise<void> {
  const send = (message: FromThread): void => port.postMessage(message)
  try {
    const openFile = await loadDriver()
    if (existsSync(path)) {
      if (statSync(path).isDirectory()) throw new FaultError(FOLDER)
      if (isFirst) endOrphanedLeases(openFile(path))
    }
    const storage = createStorage(() => openFile(path), path)
    storage.open()
    serve(port, storage, send)
    send({ kind: 'open' })
  } catch (error) {
    send({ kind: 'failed', fault: faultOf(error) })
  }
}

const FOLDER: Fault = {
  kind: 'configuration',
  message: "is a folder: name the file in it, for example 'webhooks.db'",
}

function serve(port: MessagePort, storage: Storage, send: (message: FromThread) => void): void {
  const pruning = startPruning(storage)
  let terms: Terms = NO_TERMS
  let heardAt = performance.now()
  // It checks in at a third of a lease while it holds any.
  const isHeard = (): boolean => performance.now() - heardAt < SILENT_LEASES * terms.leaseMs
  let renewing = startRenewing(storage, terms.leaseMs, isHeard)

  port.on('message', (first: ToThread) => {
    heardAt = performance.now()
    const ids: number[] = []
    const batches: Batch[] = []
    let closing = false
    // Whatever came in while the last transaction waited for the disk shares the next one.
    for (let message: ToThread | undefined = first; message !== undefined; message = nextOf(port)) {
      if (message.kind === 'terms') {
        terms = message.terms
        renewing.stop()
        renewing = startRenewing(storage, terms.leaseMs, isHeard)
      } else if (message.kind === 'close') closing = true
      else {
        ids.push(message.id)
        batches.push(message.batch)
      }
    }
    if (batches.length > 0) {
      const results = storage.run(batches, terms)
      send({ kind: 'results', results: results.map((result, index) => [ids[index] ?? -1, result]) })
    }
    if (!closing) return
    pruning.stop()
    renewing.stop()
    storage.close()
    send({ kind: 'closed' })
    port.close()
  })
}

function nextOf(port: MessagePort): ToThread | undefined {
  return (receiveMessageOnPort(port) as { readonly message: ToThread } | undefined)?.message
}

if (parentPort !== null) void main(parentPort, workerData as ThreadData)

import { existsSync, statSync } from 'node:fs'
import { MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { Batch } from '../protocol/batch.ts'
import { type Fault, FaultError } from '../protocol/fault.ts'
import type { FileNotice, LeftFile } from '../protocol/file-notice.ts'
import { NO_POLICY, type StoragePolicy } from '../protocol/storage-policy.ts'
import { loadDriver, type OpenFile } from '../storage/driver/driver.ts'
import { faultOf } from '../storage/driver/sqlite-errors.ts'
import { GONE } from '../storage/file-notices.ts'
import { endOrphanedLeases } from '../storage/leases/orphaned-leases.ts'
import { refuseLostEvents } from '../storage/left-file.ts'
import { refuseOtherForm } from '../storage/schema/schema.ts'
import { Storage } from '../storage/storage.ts'
import { type Background, startLeaseRenewal, startPruning, startWatching } from './background.ts'
import { ExitGate } from './exit-gate.ts'
import { type FromThread, readBatch, type ThreadData, type ToThread, writeResult } from './messages.ts'

/**
 * Number of lease lengths for which the application may stay silent before its leases expire: a handler that blocks the
 * event loop keeps its event for a while, but not forever.
 */
const SILENT_LEASES = 6

/** Runs the thread that works on the file, so that the application never waits for the disk. */
async function main(port: MessagePort, data: ThreadData): Promise<void> {
  const send = (message: FromThread): void => port.postMessage(message)
  const gate = new ExitGate(data.gate)
  try {
    const openFile = await loadDriver()
    const storage = gate.enter(() => openStorage(openFile, data, send))
    new Server(port, storage, gate, send).start()
    send(['open', storage.identity])
  } catch (error) {
    send(['failed', faultOf(error)])
  }
}

function openStorage(
  openFile: OpenFile,
  { path, isFirst, identity, left, create }: ThreadData,
  send: (message: FromThread) => void,
): Storage {
  const notice = (one: FileNotice): void => send(['notice', one])
  if (existsSync(path)) {
    if (statSync(path).isDirectory()) throw new FaultError(FOLDER)
    if (isFirst) {
      refuseOtherForm(openFile, path)
      endOrphanedLeases(openFile(path))
    }
  } else if (!create) throw new FaultError(MISSING)
  else if (!isFirst) throw new FaultError(GONE)
  if (left !== undefined) refuseLostEvents(openFile, path, left, notice)
  const report = { notice, leave: (one: LeftFile) => send(['leave', one]) }
  const storage = new Storage(() => openFile(path), path, create, { identity, report })
  storage.open()
  return storage
}

const FOLDER: Fault = {
  kind: 'configuration',
  message: "is a folder: name a file in it, for example 'webhooks.db'",
}

const MISSING: Fault = { kind: 'configuration', message: 'does not exist' }

/** Runs the batches that the application sends. */
class Server {
  readonly #port: MessagePort
  readonly #storage: Storage
  readonly #gate: ExitGate
  readonly #send: (message: FromThread) => void
  readonly #pruning: Background
  readonly #watching: Background
  #leaseRenewal: Background
  #policy: StoragePolicy = NO_POLICY
  /** Time of the application's last message. It sends three checks per lease length for each lease that it holds. */
  #lastMessageAt = performance.now()

  constructor(port: MessagePort, storage: Storage, gate: ExitGate, send: (message: FromThread) => void) {
    this.#port = port
    this.#storage = storage
    this.#gate = gate
    this.#send = send
    this.#pruning = startPruning({ prune: () => gate.enter(() => storage.prune()) })
    this.#watching = startWatching({ watch: () => gate.enter(() => storage.watch()) })
    this.#leaseRenewal = this.#startLeaseRenewal()
  }

  start(): void {
    this.#port.on('message', (message: ToThread) => this.#receive(message))
  }

  #receive(first: ToThread): void {
    this.#lastMessageAt = performance.now()
    const ids: number[] = []
    const batches: Batch[] = []
    let isClosing = false
    // Messages that arrived while the last transaction waited for the disk share the next one.
    for (let message: ToThread | undefined = first; message !== undefined; message = this.#nextMessage()) {
      if (message[0] === 'policy') this.#setPolicy(message[1])
      else if (message[0] === 'close') isClosing = true
      else {
        ids.push(message[1])
        batches.push(readBatch(message))
      }
    }
    if (batches.length > 0) {
      const results = this.#gate.enter(() => this.#storage.run(batches, this.#policy))
      this.#send(['results', results.map((result, index) => writeResult(ids[index] ?? -1, result))])
    }
    if (isClosing) this.#close()
  }

  /** Always `undefined` on Deno, whose `parentPort` is no `MessagePort`: there, each message has a transaction of its own. */
  #nextMessage(): ToThread | undefined {
    if (!(this.#port instanceof MessagePort)) return undefined
    return (receiveMessageOnPort(this.#port) as { readonly message: ToThread } | undefined)?.message
  }

  #setPolicy(policy: StoragePolicy): void {
    this.#policy = policy
    this.#leaseRenewal.stop()
    this.#leaseRenewal = this.#startLeaseRenewal()
  }

  #startLeaseRenewal(): Background {
    const { leaseMs } = this.#policy
    const isAppAlive = (): boolean => performance.now() - this.#lastMessageAt < SILENT_LEASES * leaseMs
    const gated = {
      renewLeases: (ms: number) => this.#gate.enter(() => this.#storage.renewLeases(ms)),
      pollLeases: (ms: number) => this.#gate.enter(() => this.#storage.pollLeases(ms)),
    }
    return startLeaseRenewal(gated, leaseMs, isAppAlive)
  }

  /** Closes the file, unless the application must keep it meanwhile: then it does so, and sends another `close`. */
  #close(): void {
    const hadLeft = this.#storage.hasLeft
    this.#gate.enter(() => this.#storage.watch())
    if (this.#storage.hasLeft && !hadLeft) return
    this.#pruning.stop()
    this.#watching.stop()
    this.#leaseRenewal.stop()
    this.#gate.enter(() => this.#storage.close())
    if (this.#port instanceof MessagePort) this.#port.close()
    else process.exit()
  }
}

if (parentPort !== null) void main(parentPort, workerData as ThreadData)

import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { AckhookError, ConfigurationError } from '@ackhook/core'
import { settlesWithin } from '@ackhook/core/spi'
import type { Batch } from '../protocol/batch.ts'
import type { BatchResult } from '../protocol/batch-result.ts'
import { deniedFault } from '../protocol/denied.ts'
import type { Fault } from '../protocol/fault.ts'
import type { FileNotice, LeftFile } from '../protocol/file-notice.ts'
import { NO_POLICY, type StoragePolicy } from '../protocol/storage-policy.ts'
import { loadDriver } from '../storage/driver/driver.ts'
import { LEFT } from '../storage/file-notices.ts'
import { keepFile } from '../storage/left-file.ts'
import { type Engine, toError } from './engine.ts'
import { ExitGate } from './exit-gate.ts'
import {
  type FromThread,
  memoryToMove,
  type ResultMessage,
  readResult,
  type ThreadData,
  type ToThread,
  writeBatch,
} from './messages.ts'
import { threadFlags } from './thread-flags.ts'

/** Longest wait for the thread: a hanging disk must not keep the application from ending. */
const END_MS = 5000

/** Caller that waits for the result of one batch. */
interface Waiting {
  readonly id: number
  resolve(result: BatchResult): void
  reject(error: unknown): void
}

/** Works on a file in a thread of its own. A thread that dies is replaced at the next call. */
export class ThreadEngine implements Engine {
  readonly #path: string
  readonly #create: boolean
  /** Oldest first, the order in which results arrive. Not a `Map`. perf: note 2. */
  readonly #waiting: Waiting[] = []
  /** Running thread that has the file open. */
  #thread: Thread | undefined
  #opening: Promise<Thread> | undefined
  /** Last started worker, whose end matters. Unset if it could not open the file. */
  #worker: Worker | undefined
  #isFirst = true
  /** Which file was open last. */
  #identity: string | undefined
  /** What the last thread left, if it had to give up the file. */
  #left: LeftFile | undefined
  /** Why the file cannot be opened again in this process. */
  #refusal: Fault | undefined
  #onNotice: (notice: FileNotice) => void = () => {}
  #isClosed = false
  #policy: StoragePolicy = NO_POLICY
  #lastId = 0

  constructor(path: string, create: boolean) {
    this.#path = path
    this.#create = create
  }

  async open(): Promise<void> {
    if (this.#isClosed) throw this.#closedError()
    await this.#open()
  }

  onNotice(listener: (notice: FileNotice) => void): void {
    this.#onNotice = listener
  }

  setPolicy(policy: StoragePolicy): void {
    this.#policy = policy
    this.#thread?.send(['policy', policy])
  }

  run(batch: Batch): Promise<BatchResult> {
    if (this.#isClosed) return Promise.reject(this.#closedError())
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const send = (thread: Thread): void => {
        this.#waiting.push({ id, resolve, reject })
        const message = writeBatch(id, batch)
        thread.send(message, memoryToMove(message))
      }
      if (this.#thread === undefined) this.#open().then(send).catch(reject)
      else send(this.#thread)
    })
  }

  toError(fault: Fault): AckhookError {
    return toError(fault, 'path', `'${this.#path}'`)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await settlesWithin(this.#end(), END_MS)
    // Never terminated: a driver that returns from a call in a terminated thread can abort the process.
    this.#worker?.unref()
    this.#fail(this.#closedError())
  }

  #open(): Promise<Thread> {
    if (this.#refusal !== undefined) return Promise.reject(this.toError(this.#refusal))
    this.#opening ??= this.#startThread().then(
      thread => this.#begin(thread),
      error => {
        this.#opening = undefined
        throw error
      },
    )
    return this.#opening
  }

  async #begin(thread: Thread): Promise<Thread> {
    if (this.#isClosed) {
      await thread.end()
      throw this.#closedError()
    }
    thread.send(['policy', this.#policy])
    this.#thread = thread
    this.#isFirst = false
    return thread
  }

  #startThread(): Promise<Thread> {
    return new Promise((resolve, reject) => {
      const gate = new ExitGate()
      const data: ThreadData = {
        path: this.#path,
        isFirst: this.#isFirst,
        identity: this.#identity,
        left: this.#left,
        create: this.#create,
        gate: gate.buffer,
      }
      const worker = this.#startWorker(data)
      this.#worker = worker
      gate.watch()
      const thread = new Thread(worker)
      worker.on('message', (message: FromThread) => {
        if (message[0] === 'results') this.#answer(message[1])
        else if (message[0] === 'notice') this.#onNotice(message[1])
        else if (message[0] === 'leave') this.#replace(thread, message[1])
        else if (message[0] === 'open') {
          this.#identity = message[1]
          this.#left = undefined
          resolve(thread)
        } else {
          // The thread ends by itself.
          this.#worker = undefined
          if (message[1].isFinal) this.#refusal = message[1]
          reject(this.toError(message[1]))
        }
      })
      const fail = (cause: unknown): void => {
        // The end of an abandoned worker does not concern its successor.
        if (this.#worker !== worker) return
        const error = isIncomplete(cause)
          ? bundledError(cause)
          : new AckhookError('inbox_unavailable', `The thread for '${this.#path}' ended.`, { cause })
        reject(error)
        this.#fail(error)
      }
      worker.on('error', fail)
      worker.on('exit', code => {
        gate.unwatch()
        fail(new Error(`exit code ${code}`))
      })
    })
  }

  #startWorker(data: ThreadData): Worker {
    try {
      return new Worker(threadFile(), { workerData: data, name: 'ackhook-sqlite', ...threadFlags() })
    } catch (error) {
      const fault = deniedFault(error)
      throw fault === undefined ? error : this.toError(fault)
    }
  }

  /** Ends a thread whose file has lost its log, and starts another one once the file is closed. */
  #replace(thread: Thread, left: LeftFile): void {
    if (this.#isClosed) {
      void this.#endKept(thread)
      return
    }
    this.#left = left
    this.#thread = undefined
    // Its end is no failure.
    this.#worker = undefined
    const replaced = this.#endKept(thread).then(() => this.#startThread())
    this.#opening = replaced.then(
      next => this.#begin(next),
      error => {
        this.#opening = undefined
        throw error
      },
    )
    // A call that waits for it gets the error, and the next one starts another thread.
    this.#opening.catch(() => {})
  }

  /** Ends a thread without a change to the file, or to a log that is in the place of its own. */
  async #endKept(thread: Thread): Promise<void> {
    const letGo = await loadDriver().then(
      openFile => keepFile(openFile, this.#path),
      () => () => {},
    )
    await thread.end()
    letGo()
    this.#rejectWaiting(this.toError(LEFT))
  }

  #answer(results: readonly ResultMessage[]): void {
    for (const result of results) {
      const [id] = result
      const index = this.#waiting.findIndex(one => one.id === id)
      if (index >= 0) this.#waiting.splice(index, 1)[0]?.resolve(readResult(result))
    }
  }

  #fail(error: unknown): void {
    this.#thread = undefined
    this.#opening = undefined
    this.#rejectWaiting(error)
  }

  #rejectWaiting(error: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }

  async #end(): Promise<void> {
    const thread = await this.#opening?.catch(() => undefined)
    await thread?.end()
  }

  #closedError(): AckhookError {
    return new AckhookError('inbox_unavailable', `'${this.#path}' is closed.`)
  }
}

class Thread {
  readonly #worker: Worker
  readonly #ended: Promise<void>

  constructor(worker: Worker) {
    this.#worker = worker
    this.#ended = new Promise(resolve => worker.once('exit', () => resolve()))
  }

  send(message: ToThread, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer)
  }

  end(): Promise<void> {
    this.send(['close'])
    return this.#ended
  }
}

/** Absent in a bundle of the format CommonJS. */
const HERE: string | undefined = import.meta.url

/**
 * Returns the file of the thread. This repository's tests run the TypeScript source and need the built file too: a
 * thread has no loader, and Node 20 cannot run TypeScript.
 */
function threadFile(): URL {
  if (HERE === undefined) throw bundledError()
  const file = HERE.endsWith('.ts')
    ? new URL('../../dist/engine/thread.js', HERE)
    : new URL('./thread.js', import.meta.url)
  if (!existsSync(file)) throw bundledError()
  return file
}

/** Returns whether the thread's file was copied without the files that it imports. It loads drivers by itself. */
function isIncomplete(cause: unknown): boolean {
  const { name, code } = cause as { readonly name?: string; readonly code?: string }
  return name === 'SyntaxError' || code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
}

function bundledError(cause?: unknown): ConfigurationError {
  return new ConfigurationError(
    'inbox',
    "a bundler, or a copy of the build, left out the file 'thread.js' of @ackhook/sqlite or what it imports: keep @ackhook/sqlite out of the bundle (esbuild --external:@ackhook/sqlite) and install it where the app runs",
    { page: 'bundles', cause },
  )
}

import { Worker } from 'node:worker_threads'
import { AckhookError } from '@ackhook/core'
import type { BatchResult, Terms } from '../protocol.ts'
import { type Engine, NO_TERMS } from './engine.ts'
import type { FromThread, ThreadData, ToThread } from './thread-messages.ts'
import { toError } from './to-error.ts'

/** For the answer to one message. */
interface Waiting {
  readonly id: number
  resolve(result: BatchResult): void
  reject(error: unknown): void
}

/** A thread that is up, with a file that is open. */
interface Thread {
  send(message: ToThread, transfer?: readonly ArrayBuffer[]): void
  end(): Promise<void>
}

/** Works on a file in a thread of its own. A thread that dies is replaced at the next call. */
export function createThreadEngine(path: string): Engine {
  /** The longest first, as they are answered. Not a `Map`, for the reason given in `arriving.ts`. */
  const waiting: Waiting[] = []
  let thread: Thread | undefined
  let opening: Promise<Thread> | undefined
  let current: Worker | undefined
  let closed = false
  let isFirst = true
  let terms: Terms = NO_TERMS
  let lastId = 0

  function open(): Promise<Thread> {
    opening ??= startThread().then(
      async started => {
        if (closed) {
          await started.end()
          throw closedError()
        }
        started.send({ kind: 'terms', terms })
        thread = started
        isFirst = false
        return started
      },
      error => {
        opening = undefined
        throw error
      },
    )
    return opening
  }

  function startThread(): Promise<Thread> {
    return new Promise((resolve, reject) => {
      const data: ThreadData = { path, isFirst }
      const worker = new Worker(threadFile(), { workerData: data, name: 'ackhook-sqlite', ...execArgv() })
      current = worker
      const ended = new Promise<void>(done => worker.once('exit', () => done()))
      worker.on('message', (message: FromThread) => {
        if (message.kind === 'results') settle(message.results)
        else if (message.kind === 'open') resolve(threadOf(worker, ended))
        else if (message.kind === 'failed') {
          // It ends by itself.
          current = undefined
          reject(toError(message.fault, 'path', `'${path}'`))
        }
      })
      const gone = (cause: unknown): void => {
        // The end of one that was given up says nothing about the one after it.
        if (current !== worker) return
        const error = new AckhookError('inbox_unavailable', `The thread of '${path}' ended.`, { cause })
        reject(error)
        lose(error)
      }
      worker.on('error', gone)
      worker.on('exit', code => gone(new Error(`exit code ${code}`)))
    })
  }

  function settle(results: readonly (readonly [number, BatchResult])[]): void {
    for (const [id, result] of results) {
      const index = waiting.findIndex(one => one.id === id)
      if (index >= 0) waiting.splice(index, 1)[0]?.resolve(result)
    }
  }

  function lose(error: unknown): void {
    thread = undefined
    opening = undefined
    for (const { reject } of waiting.splice(0)) reject(error)
  }

  function closedError(): AckhookError {
    return new AckhookError('inbox_unavailable', `'${path}' is closed.`)
  }

  return {
    async open() {
      if (closed) throw closedError()
      await open()
    },
    setTerms(next) {
      terms = next
      thread?.send({ kind: 'terms', terms })
    },
    run(batch) {
      if (closed) return Promise.reject(closedError())
      const id = ++lastId
      return new Promise((resolve, reject) => {
        const post = (to: Thread): void => {
          waiting.push({ id, resolve, reject })
          // The bytes move to the other thread instead of being copied a second time.
          to.send({ kind: 'batch', id, batch }, [batch.bytes.buffer as ArrayBuffer])
        }
        if (thread === undefined) open().then(post).catch(reject)
        else post(thread)
      })
    },
    async close() {
      closed = true
      await inTime(async () => (await opening?.catch(() => undefined))?.end())
      // Not terminated: a driver that comes back from a call in a terminated thread can abort the process.
      current?.unref()
      lose(closedError())
    },
  }
}

const END_MS = 5000

function threadOf(worker: Worker, ended: Promise<void>): Thread {
  return {
    send: (message, transfer = []) => worker.postMessage(message, transfer),
    end() {
      worker.postMessage({ kind: 'close' } satisfies ToThread)
      return ended
    },
  }
}

/** A disk that no longer answers must not keep the application from ending. */
async function inTime(work: () => Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeUp = new Promise<void>(resolve => {
    timer = setTimeout(resolve, END_MS)
  })
  await Promise.race([work(), timeUp])
  clearTimeout(timer)
}

const FROM_SOURCE = import.meta.url.endsWith('.ts')

/**
 * A thread inherits the flags of its process. `--input-type` is meant for `--eval` and a program from stdin, and Node
 * refuses to run a file with it; a condition of the tests would lead the built thread to TypeScript.
 */
function execArgv(): { execArgv?: string[] } {
  const cannotInherit = FROM_SOURCE || process.execArgv.some(flag => flag.startsWith('--input-type'))
  return cannotInherit ? { execArgv: [] } : {}
}

/**
 * The built file, also when this module runs from its TypeScript source in the tests of this repository: a
 * thread has no loader of theirs, and Node 20 cannot run TypeScript. Their set-up builds first.
 */
function threadFile(): URL {
  return new URL(FROM_SOURCE ? '../../dist/engine/thread.js' : './thread.js', import.meta.url)
}

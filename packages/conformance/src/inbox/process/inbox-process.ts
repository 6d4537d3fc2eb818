import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { AckhookError, type Inbox, type MaybePromise } from '@ackhook/core'
import { type Attempt, createAttempt, type ProcessEvent, type ProcessingPolicy } from '@ackhook/core/spi'
import type { MortalInbox } from '../target.ts'
import type { FromInbox, Method, ToInbox } from './messages.ts'

/** An inbox in a process that can be killed, or stopped for a while. */
export interface InboxProcessHandle extends MortalInbox {
  /** Sends SIGSTOP. */
  stop(): void
  /** Sends SIGCONT. */
  resume(): void
}

/**
 * Starts `script` in its own process, for the hooks `crash`, `skew` and `distant`. The script creates an inbox and passes it to
 * {@link serveInbox}. `process.argv[2]` holds `argument` as JSON. `kill` sends SIGKILL.
 *
 * @example
 * const crash = ({ file }: { file: string }) => inboxProcess(new URL('./mortal-inbox.mjs', import.meta.url), { file })
 */
export async function inboxProcess(script: string | URL, argument?: unknown): Promise<InboxProcessHandle> {
  const child = fork(script, [JSON.stringify(argument ?? null)], {
    serialization: 'advanced',
    // The test runner's options are not an application's.
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const served = new ServedInbox(child)
  await served.ready
  return {
    inbox: served.toInbox(),
    stop: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async kill() {
      const ended = once(child, 'exit')
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await ended
    },
  }
}

interface Call {
  resolve(value: unknown): void
  reject(error: Error): void
}

/** Another process's inbox. */
class ServedInbox {
  readonly #child: ChildProcess
  readonly #calls = new Map<number, Call>()
  readonly #attempts = new Map<number, Attempt>()
  #count = 0
  #run: ProcessEvent | undefined
  #policy: ProcessingPolicy | undefined
  readonly ready: Promise<unknown>

  constructor(child: ChildProcess) {
    this.#child = child
    this.ready = new Promise((resolve, reject) => this.#calls.set(this.#count++, { resolve, reject }))
    child.on('message', message => this.#receive(message as FromInbox))
    child.on('exit', () => this.#end())
    // As when the process cannot be started, or a message reaches it no more.
    child.on('error', () => this.#end())
  }

  toInbox(): Inbox {
    const call = <T>(method: Method, argument?: unknown) => this.#call(method, argument) as Promise<T>
    return {
      durable: true,
      start: (run, policy) => this.#start(run, policy),
      accept: delivery => call('accept', delivery),
      close: async timeoutMs => {
        const report = await call<Awaited<ReturnType<Inbox['close']>>>('close', timeoutMs)
        this.#child.disconnect()
        return report
      },
      stats: () => call('stats'),
      forget: key => call('forget', key),
      deadLetters: {
        list: () => call('list'),
        get: key => call('get', key),
        redrive: key => call('redrive', key),
        discard: key => call('discard', key),
        now: () => call('now'),
      },
    }
  }

  async #start(run: ProcessEvent, policy: ProcessingPolicy): Promise<void> {
    this.#run = run
    this.#policy = policy
    const { acknowledge, concurrency, capacity, handlerTimeoutMs, retry, retentionMs, serialize } = policy
    const { deadLetterRetentionMs } = policy
    const published = policy.handlers?.published
    await this.#call('start', {
      acknowledge,
      concurrency,
      capacity,
      handlerTimeoutMs,
      retry,
      retentionMs,
      serialize,
      deadLetterRetentionMs,
      published,
    })
  }

  #call(method: Method, argument: unknown): Promise<unknown> {
    const call = this.#count++
    return new Promise((resolve, reject) => {
      if (!this.#child.connected) return reject(new Error(ENDED))
      this.#calls.set(call, { resolve, reject })
      this.#send({ kind: 'call', call, method, argument })
    })
  }

  #receive(message: FromInbox): void {
    if (message.kind === 'ready') this.#answer(0, undefined, undefined)
    else if (message.kind === 'answer') this.#answer(message.call, message.value, message.error)
    else if (message.kind === 'observed') this.#policy?.observe(message.observation)
    else if (message.kind === 'run') void this.#attempt(message)
    else this.#attempts.get(message.run)?.abort(withdrawal(message.reason))
  }

  #answer(call: number, value: unknown, error: Error | undefined): void {
    const waiting = this.#calls.get(call)
    this.#calls.delete(call)
    if (error === undefined) waiting?.resolve(value)
    else waiting?.reject(error)
  }

  async #attempt({ run, delivery, attempt }: Extract<FromInbox, { kind: 'run' }>): Promise<void> {
    const { number, decision, routingToken, abandonReason } = attempt
    const created = createAttempt(number, decision, routingToken, abandonReason)
    this.#attempts.set(run, created)
    const result = await (this.#run?.(delivery, created) as MaybePromise<Awaited<ReturnType<ProcessEvent>>>)
    this.#send({ kind: 'result', run, result })
  }

  #send(message: ToInbox): void {
    if (this.#child.connected) this.#child.send(message, () => {})
  }

  #end(): void {
    for (const { reject } of this.#calls.values()) reject(new Error(ENDED))
    this.#calls.clear()
  }
}

const ENDED = "The inbox's process has ended."

/** Restores the error's class, which is lost between processes. */
function withdrawal({ message }: Error): AckhookError {
  return new AckhookError('drain_timeout', message)
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { BullmqInboxOptions } from '@ackhook/bullmq'

export type Mode = 'memory' | 'after' | 'sqlite'

export const SECRET = 'whsec_inbox_faults_0123456789'

export interface ChildSettings {
  /** `bare`: node:http alone. It answers only `rss`. */
  readonly mode: Mode | 'bullmq' | 'bare'
  readonly ledger: string
  readonly database: string
  /** Where the queue of `bullmq` is. */
  readonly engine?: Pick<BullmqInboxOptions, 'connection' | 'postgres'>
  readonly queue?: string
  /** Of its handlers; which of them an event ran is in the ledger. Default: `*`. */
  readonly patterns?: readonly string[]
  /** Does not block, whatever the event asks for. */
  readonly steady?: boolean
  readonly killAt?: string | undefined
  /** How long each handler takes. */
  readonly workMs?: number
  readonly lease?: string
  readonly v8Flags?: readonly string[]
  /** Writes to the ledger what it promises: `promised` before each 2xx, `idle` when it says that nothing is left. */
  readonly tellsPromises?: boolean
  /** Beside the environment of the tests. */
  readonly env?: Readonly<Record<string, string>>
  /** Further options of the receiver. */
  readonly options?: Readonly<Record<string, unknown>>
}

/** A receiver in a process of its own. */
export interface ReceiverProcess {
  readonly url: string
  readonly pid: number
  /** Resolves with the exit code, `null` after a signal. */
  readonly exited: Promise<number | null>
  signal(name: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP'): void
  /** `live`: the bytes held after a garbage collection. `old`: those in old space, without one. */
  ask<T>(question: 'rss' | 'live' | 'old' | 'stats' | 'processes'): Promise<T>
}

function programOf(mode: ChildSettings['mode']): string {
  const file = mode === 'bare' ? 'bare-child.mjs' : 'receiver-child.mjs'
  return fileURLToPath(new URL(file, import.meta.url))
}

/** Starts one and resolves when it listens. */
export async function startReceiver(settings: ChildSettings): Promise<ReceiverProcess> {
  const { v8Flags = [] } = settings
  const child: ChildProcess = spawn(
    process.execPath,
    ['--expose-gc', ...v8Flags, programOf(settings.mode), JSON.stringify({ ...settings, secret: SECRET })],
    {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, ...settings.env },
    },
  )
  const exited = new Promise<number | null>(resolve => child.once('exit', code => resolve(code)))
  const ended = exited.then(code => {
    throw new Error(`the receiver ended with ${String(code)} instead of answering`)
  })
  ended.catch(() => {})
  const answer = async (): Promise<unknown> => {
    const [message] = await Promise.race([once(child, 'message'), ended])
    return message
  }
  const { port } = (await answer()) as { port: number }
  return {
    url: `http://127.0.0.1:${port}/`,
    pid: child.pid ?? 0,
    exited,
    signal: name => child.kill(name),
    async ask(question) {
      child.send(question)
      return ((await answer()) as Record<string, never>)[question] as never
    },
  }
}

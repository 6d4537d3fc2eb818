import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { BullmqInboxOptions } from '@ackhook/bullmq'

export type Mode = 'memory' | 'after' | 'sqlite'

export const SECRET = 'whsec_inbox_faults_0123456789'

export interface ChildSettings {
  /** `bare`: only node:http, which supports only the question `rss`. */
  readonly mode: Mode | 'bullmq' | 'bare'
  readonly ledger: string
  readonly database: string
  /** Server of the `bullmq` queue. */
  readonly engine?: Pick<BullmqInboxOptions, 'connection' | 'postgres'>
  readonly queue?: string
  /** Patterns of its handlers. The ledger records which ones an event ran. Default: `*`. */
  readonly patterns?: readonly string[]
  /** Never blocks, whatever the event's behavior says. */
  readonly steady?: boolean
  readonly killAt?: string | undefined
  /** Duration of each handler. */
  readonly workMs?: number
  readonly lease?: string
  readonly v8Flags?: readonly string[]
  /** Writes promises to the ledger: `promised` before each 2xx, `idle` when it reports that nothing is left. */
  readonly tellsPromises?: boolean
  /** Environment variables in addition to those of the tests. */
  readonly env?: Readonly<Record<string, string>>
  /** Further receiver options. */
  readonly options?: Readonly<Record<string, unknown>>
}

/** A receiver in its own process. */
export interface ReceiverProcess {
  readonly url: string
  readonly pid: number
  /** Resolves with the exit code, `null` after a signal. */
  readonly exited: Promise<number | null>
  signal(name: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP'): void
  /** Asks the process. `live`: bytes held after a garbage collection. `old`: bytes in old space without one. */
  ask<T>(question: 'rss' | 'live' | 'old' | 'stats' | 'processes'): Promise<T>
}

function programOf(mode: ChildSettings['mode']): string {
  const file = mode === 'bare' ? 'bare-child.mjs' : 'receiver-child.mjs'
  return fileURLToPath(new URL(file, import.meta.url))
}

/** Starts a receiver process and resolves when it listens. */
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

import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BullmqInboxOptions } from '@ackhook/bullmq'

export const SECRET = 'a-secret-of-at-least-16-bytes'

/** Where a process can be made to die, in the order in which it gets there. */
export const POINTS = [
  'after verify',
  'after accept',
  'before reply',
  'after reply',
  'mid-handler',
  'before complete',
  'after complete',
] as const

export interface ReceiverSettings {
  readonly engine: Pick<BullmqInboxOptions, 'connection' | 'postgres'>
  readonly queue: string
  readonly ledger: string
  readonly handlerMs?: number
  readonly concurrency?: number
  readonly capacity?: number
  readonly dieAt?: (typeof POINTS)[number]
}

export interface ReceiverProcess {
  readonly url: string
  /** Resolves with its exit code, `null` after a signal. */
  readonly ended: Promise<number | null>
  readonly draining: Promise<void>
  kill(signal?: NodeJS.Signals): Promise<number | null>
}

export async function startReceiver(settings: ReceiverSettings): Promise<ReceiverProcess> {
  const file = fileURLToPath(new URL('fixtures/receiver.mjs', import.meta.url))
  const env = { ...process.env, NODE_OPTIONS: '', RECEIVER: JSON.stringify({ secret: SECRET, ...settings }) }
  // The conditions of Vitest would lead the child to TypeScript sources.
  const child = fork(file, [], { env, execArgv: [] })
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  const draining = new Promise<void>(resolve => {
    child.on('message', (message: { draining?: true }) => {
      if (message.draining) resolve()
    })
  })
  const port = await portOf(child)
  return {
    url: `http://127.0.0.1:${port}/`,
    ended,
    draining,
    async kill(signal = 'SIGKILL') {
      child.kill(signal)
      return ended
    },
  }
}

function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('exit', code => reject(new Error(`the receiver process ended with ${code}`)))
    child.on('message', (message: { port?: number }) => {
      if (message.port !== undefined) resolve(message.port)
    })
  })
}

/** A file to which handlers append the id of each event they have begun and done. */
export interface Ledger {
  readonly path: string
  /** How often each event was begun or done. */
  count(what: 'begun' | 'done'): ReadonlyMap<string, number>
  remove(): void
}

export function createLedger(): Ledger {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-ledger-'))
  const path = join(folder, 'runs')
  return {
    path,
    count(what) {
      const counts = new Map<string, number>()
      for (const line of linesOf(path)) {
        const [kind, id] = line.split(' ') as [string, string]
        if (kind === what) counts.set(id, (counts.get(id) ?? 0) + 1)
      }
      return counts
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}

import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const SECRET = 'a-secret-of-at-least-16-bytes'

export interface ReceiverProcess {
  readonly url: string
  readonly child: ChildProcess
  /** Messages from the process: `running` with an event's id, `observed` with a kind. */
  readonly messages: readonly { readonly running?: string; readonly observed?: string }[]
  stop(): Promise<void>
}

export interface ReceiverSettings {
  readonly redisUrl: string
  readonly ledger: string
  readonly lease?: string
  readonly acknowledge?: string
  readonly handlerMs?: number
  readonly dieAfterClaim?: boolean
  /** Kinds of observations to pass on. */
  readonly report?: readonly string[]
}

export function forkFixture(name: string, env: Record<string, string>): ChildProcess {
  const file = fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))
  // Vitest's conditions would make the child load TypeScript sources.
  return fork(file, [], { env: { ...process.env, NODE_OPTIONS: '', ...env }, execArgv: [] })
}

export async function startReceiver(settings: ReceiverSettings): Promise<ReceiverProcess> {
  const child = forkFixture('receiver.mjs', { RECEIVER: JSON.stringify({ secret: SECRET, ...settings }) })
  const messages: { running?: string; observed?: string }[] = []
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', code => reject(new Error(`the receiver process ended with ${code}`)))
    child.on('message', (message: { port?: number; running?: string; observed?: string }) => {
      if (message.port === undefined) messages.push(message)
      else resolve(message.port)
    })
  })
  return { url: `http://127.0.0.1:${port}/`, child, messages, stop: () => end(child) }
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}

/** A file to which handlers append each event's id. */
export interface Ledger {
  readonly path: string
  /** Returns the number of runs of each event. */
  runs(): ReadonlyMap<string, number>
  remove(): void
}

export function createLedger(): Ledger {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-ledger-'))
  const path = join(folder, 'runs')
  return {
    path,
    runs() {
      const runs = new Map<string, number>()
      for (const id of linesOf(path)) runs.set(id, (runs.get(id) ?? 0) + 1)
      return runs
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

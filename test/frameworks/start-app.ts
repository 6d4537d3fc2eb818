import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { vi } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { SECRET } from './behavior.ts'
import { FOLDER } from './load.ts'

const PATIENT = { timeout: 120_000, interval: 100 }

/** An app in its own process. */
export interface App {
  /** Root address, without a trailing slash. */
  readonly origin: string
  /** Returns everything that it has printed. */
  output(): string
  /** Resolves with the exit code, or with the signal that ended it. */
  readonly ended: Promise<number | string>
  signal(name: NodeJS.Signals): void
  stop(): Promise<void>
}

/** Runs a program from `node_modules` in a sibling folder, to its end. */
export async function runProgram(folder: string, ...args: readonly string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [...args], { cwd: FOLDER + folder, env: environment() })
}

/** Starts a program that listens on `PORT`, and waits until it responds. */
export async function startApp(folder: string, ...args: readonly string[]): Promise<App> {
  const port = await freePort()
  const child = spawn(process.execPath, args, {
    cwd: FOLDER + folder,
    env: { ...environment(), PORT: String(port), HOST: '127.0.0.1' },
    // Starts a process group, because a development server has further processes.
    detached: true,
  })
  const chunks: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => chunks.push(String(chunk)))
  const output = () => chunks.join('')
  const origin = `http://127.0.0.1:${port}`
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal)
  const signal = (name: NodeJS.Signals) => void child.kill(name)
  const app = { origin, output, ended, signal, stop: () => stop(child) }
  try {
    await vi.waitFor(() => fetch(origin), PATIENT)
  } catch (cause) {
    await app.stop()
    throw new Error(`the app does not answer:\n${output()}`, { cause })
  }
  return app
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  process.kill(-child.pid!, 'SIGKILL')
  await ended
}

/** Returns the environment without Vitest's settings. Raises SvelteKit's own body limit of 512 KiB. */
function environment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, VITEST: __, NODE_ENV: ___, ...env } = process.env
  const settings = { NO_COLOR: '1', NEXT_TELEMETRY_DISABLED: '1', BODY_SIZE_LIMIT: '1M' }
  return { ...env, ...settings, SIGNING_SECRET: SECRET }
}

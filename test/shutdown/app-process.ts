import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished, vi } from 'vitest'
import { eventBody, SECRET, sign } from '../support/receiving.ts'

/** The app's file. */
export const APP: string = fileURLToPath(new URL('app.mjs', import.meta.url))

export interface AppSettings {
  readonly framework: 'node' | 'http2' | 'express' | 'fastify' | 'hono'
  readonly handlerMs?: number
  readonly shutdown?: object
  readonly manual?: boolean
  /** File of a `sqliteInbox`. Without it, events are in memory. */
  readonly inbox?: string
}

/** A line printed by the app. */
export interface Line {
  readonly port?: number
  readonly began?: string
  readonly handled?: string
  readonly cleanup?: true
  readonly level?: string
  readonly code?: string
  readonly message?: string
  readonly report?: object
}

/** An app in its own process. */
export class AppProcess {
  readonly lines: Line[] = []
  /** Resolves with the exit code, or with the signal that ended it. */
  readonly ended: Promise<number | string>
  port = 0
  readonly #child: ChildProcess

  private constructor(settings: AppSettings, program: readonly string[]) {
    const { NODE_ENV: _, ...env } = process.env
    this.#child = spawn(process.execPath, [...program, JSON.stringify(settings)], {
      env: { ...env, SIGNING_SECRET: SECRET },
      // Where a watcher looks for changes.
      cwd: dirname(program.at(-1) as string),
      // A terminal would be a sign of development, in which a shutdown is shorter.
      stdio: ['ignore', 'pipe', 'inherit'],
      // A group of its own, because a watcher has the app as a child.
      detached: true,
    })
    this.ended = once(this.#child, 'exit').then(([code, signal]) => code ?? signal)
    createInterface({ input: this.#child.stdout! }).on('line', line => {
      // A watcher prints lines of its own.
      if (!line.startsWith('{')) return
      const told = JSON.parse(line) as Line
      this.port = told.port ?? this.port
      this.lines.push(told)
    })
  }

  /** `program` is what Node runs: arguments that end before the settings. */
  static async start(settings: AppSettings, program: readonly string[] = [APP]): Promise<AppProcess> {
    const app = new AppProcess(settings, program)
    onTestFinished(() => app.#kill())
    await vi.waitFor(() => {
      if (app.port === 0) throw new Error('It does not listen yet.')
    })
    return app
  }

  #kill(): void {
    try {
      process.kill(-this.#child.pid!, 'SIGKILL')
    } catch {
      // The whole group has ended.
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  has(part: Partial<Line>): boolean {
    const entries = Object.entries(part)
    return this.lines.some(line => entries.every(([name, value]) => line[name as keyof Line] === value))
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  post(id: string, options: RequestInit = {}): Promise<Response> {
    const body = eventBody({ id })
    const headers = {
      'content-type': 'application/json',
      'x-service-signature': sign(body, { secret: SECRET }),
    }
    return fetch(`${this.url}/webhooks`, { method: 'POST', headers, body, ...options })
  }

  /** Returns a probe's HTTP status and the status in its JSON. */
  async probe(name: 'live' | 'ready'): Promise<readonly [number, string]> {
    const reply = await fetch(`${this.url}/health/${name}`)
    return [reply.status, ((await reply.json()) as { status: string }).status]
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished, vi } from 'vitest'
import { eventBody, SECRET, sign } from '../support/receiving.ts'

const APP = fileURLToPath(new URL('app.mjs', import.meta.url))

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

  private constructor(settings: AppSettings) {
    this.#child = spawn(process.execPath, [APP, JSON.stringify(settings)], {
      env: { ...process.env, SIGNING_SECRET: SECRET },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.ended = once(this.#child, 'exit').then(([code, signal]) => code ?? signal)
    createInterface({ input: this.#child.stdout! }).on('line', line => {
      const told = JSON.parse(line) as Line
      this.port = told.port ?? this.port
      this.lines.push(told)
    })
  }

  static async start(settings: AppSettings): Promise<AppProcess> {
    const app = new AppProcess(settings)
    onTestFinished(() => void app.#child.kill('SIGKILL'))
    await vi.waitFor(() => {
      if (app.port === 0) throw new Error('It does not listen yet.')
    })
    return app
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

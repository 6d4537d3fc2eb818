import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { until } from '../support/until.ts'

export const ROOT: string = join(import.meta.dirname, '../..')

/** Where an inbox is, for `child.mjs`. */
export type Place = Readonly<Record<string, unknown>> & { readonly kind: string }
export type Feature = 'sealing' | 'pause' | 'order' | 'fairness' | 'after-processing'

export interface Line {
  readonly kind: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly [name: string]: unknown
}

/** A real process of one version. */
export class RollingProcess {
  readonly lines: Line[] = []
  readonly #child: ChildProcess
  #asked = 0

  private constructor(child: ChildProcess) {
    this.#child = child
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
    lines.on('line', line => this.lines.push(JSON.parse(line) as Line))
  }

  /** Starts a process of the version in the folder `root`, and waits until it has started or was refused. */
  static async start(
    root: string,
    inbox: Place,
    settings: { readonly features?: readonly Feature[]; readonly concurrency?: number } = {},
  ): Promise<RollingProcess> {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'child.mjs')], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '', ROLLING: JSON.stringify({ root, inbox, ...settings }) },
    })
    const started = new RollingProcess(child)
    onTestFinished(() => started.kill())
    await until('the process has started', () => {
      if (child.exitCode !== null && started.refusal === undefined) throw new Error('it ended')
      return started.lines.some(({ kind }) => kind === 'started' || kind === 'refused')
    })
    return started
  }

  /** The error with which its start failed. */
  get refusal(): string | undefined {
    return this.lines.find(({ kind }) => kind === 'refused')?.['message'] as string | undefined
  }

  /** Ids of the events whose handlers began or ended, in order. */
  ids(kind: 'begins' | 'ends'): readonly string[] {
    return this.lines.filter(line => line.kind === kind).map(line => line['id'] as string)
  }

  async ask(command: string, ids?: readonly string[]): Promise<Line> {
    const number = this.#asked++
    this.#child.stdin?.write(`${JSON.stringify({ number, command, ids })}\n`)
    let answer: Line | undefined
    await until(`the process answers '${command}'`, () => {
      answer = this.lines.find(line => line.kind === 'answer' && line['number'] === number)
      return answer !== undefined
    })
    return answer as Line
  }

  /** Delivers events. Returns the status of each reply, by id. */
  async deliver(ids: readonly string[]): Promise<Readonly<Record<string, number>>> {
    return (await this.ask('deliver', ids))['statuses'] as Readonly<Record<string, number>>
  }

  async close(): Promise<void> {
    const ended = once(this.#child, 'exit')
    await this.ask('close')
    await ended
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { until } from '../../../test/support/until.ts'

const ROOT = join(import.meta.dirname, '../../..')

export interface Line {
  readonly kind: string
  readonly [name: string]: unknown
}

/** A real process that has an inbox file open. */
export class FileProcess {
  readonly lines: Line[] = []
  readonly #child: ChildProcess
  #deliveries = 0

  private constructor(child: ChildProcess) {
    this.#child = child
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', line =>
      this.lines.push(JSON.parse(line) as Line),
    )
  }

  /**
   * Starts a process. With `concurrency` 0 it only receives; otherwise its handlers wait for `release`. `root`: the
   * folder of another version.
   */
  static async start(
    path: string,
    { concurrency = 0, flags = [] as readonly string[], root = ROOT } = {},
  ): Promise<FileProcess> {
    const file = join(root, 'packages/sqlite/test/file-child.mjs')
    const child = spawn(process.execPath, [...flags, file, path, String(concurrency)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const started = new FileProcess(child)
    await started.next(({ kind }) => kind === 'started' || kind === 'refused')
    return started
  }

  send(command: string): void {
    this.#child.stdin?.write(`${command}\n`)
  }

  /** Waits for a line after the first `from` ones. */
  async next(matches: (line: Line) => boolean, from = 0): Promise<Line> {
    let found: Line | undefined
    await until(`the process prints it; last: ${JSON.stringify(this.lines.slice(-3))}`, () => {
      found = this.lines.slice(from).find(matches)
      return found !== undefined
    })
    return found as Line
  }

  log(code: string): Promise<Line> {
    return this.next(line => line['code'] === code)
  }

  logged(code: string): Line[] {
    return this.lines.filter(line => line['code'] === code)
  }

  /** Delivers events one after another. Returns the ids of the acknowledged ones. */
  async deliver(count: number): Promise<readonly string[]> {
    const prefix = `p${this.#child.pid}_${this.#deliveries++}`
    this.send(`deliver ${prefix} ${count}`)
    const { acknowledged } = await this.next(line => line.kind === 'delivered' && line['prefix'] === prefix)
    return acknowledged as readonly string[]
  }

  async stats(): Promise<Line> {
    const from = this.lines.length
    this.send('stats')
    return this.next(({ kind }) => kind === 'stats', from)
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(name)
  }

  async close(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.send('close')
    await ended
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}

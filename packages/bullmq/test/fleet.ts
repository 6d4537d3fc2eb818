import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BullmqInboxOptions } from '@ackhook/bullmq'
import type { TestContext } from 'vitest'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, unique, until } from './parts.ts'

const TAKING = fileURLToPath(new URL('./fixtures/taking.mjs', import.meta.url))

export const ENGINES = [
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const

interface Step {
  readonly name: string
  readonly what: 'started' | 'begin' | 'end' | 'lost'
  readonly id: string
  readonly at: number
}

/** Processes that handle one queue of a server, each through its own connections to it. */
export async function fleet(start: () => Promise<TestEngine>, { onTestFinished: cleanup }: TestContext) {
  const engine = await start()
  cleanup(() => engine.stop())
  const folder = mkdtempSync(join(tmpdir(), 'taking-'))
  cleanup(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'steps')
  const queue = unique('q')
  const steps = (): readonly Step[] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .filter(line => line.endsWith('}'))
          .map(line => JSON.parse(line))
      : []
  const ran = (ids: readonly string[]) => {
    const ended = new Set(steps().flatMap(({ what, id }) => (what === 'end' ? [id] : [])))
    return ids.every(id => ended.has(id))
  }

  return {
    engine,
    steps,
    ran,
    async process(name: string, port: number, { lease, ...settings }: FleetSettings): Promise<ChildProcess> {
      const options: BullmqInboxOptions = { ...engine.optionsAt(port), queue, lease }
      const args = JSON.stringify({ options, name, file, ...settings })
      const child = spawn(process.execPath, [TAKING, args], { stdio: 'inherit' })
      cleanup(() => void child.kill('SIGKILL'))
      await until(() => steps().some(step => step.what === 'started' && step.name === name))
      return child
    },
    /** Accepts this many events, all of one key if they run in order. */
    async accept(count: number, serialize = false): Promise<string[]> {
      const inbox = engine.inbox(queue)
      const policy = aPolicy({ concurrency: 0, serialize })
      const starts = async () => inbox.start(async () => COMPLETED, policy)
      await until(() => starts().then(isDone, () => false))
      const deliveries = Array.from({ length: count }, (_, i) =>
        aDelivery(serialize ? { order: { key: 'one', createdAt: 1_700_000_000_000 + i } } : {}),
      )
      for (const delivery of deliveries)
        await until(async () => (await inbox.accept(delivery)).outcome !== 'unavailable')
      await inbox.close(1000)
      return deliveries.map(({ id }) => id)
    },
  }
}

interface FleetSettings {
  readonly lease: NonNullable<BullmqInboxOptions['lease']>
  readonly concurrency: number
  readonly serialize?: boolean
  readonly workMs?: number
  /** Each SIGUSR2 sets a clock of the process by so many milliseconds. */
  readonly jumps?: readonly (readonly ['wall' | 'monotonic', number])[]
}

function isDone(): boolean {
  return true
}

/** Events that ran in two processes at the same moment. */
export function atOnce(steps: readonly Step[]): string[] {
  const found: string[] = []
  const running = new Map<string, Set<string>>()
  for (const { name, what, id } of steps) {
    const names = running.get(id) ?? new Set()
    running.set(id, names)
    if (what === 'begin' && names.size > 0 && !names.has(name)) found.push(id)
    if (what === 'begin') names.add(name)
    else names.delete(name)
  }
  return found
}

export function count(steps: readonly Step[], what: Step['what']): number {
  return steps.filter(step => step.what === what).length
}

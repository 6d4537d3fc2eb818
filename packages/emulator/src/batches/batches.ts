import { newId } from '../lib/ids.ts'

/** What a batch does. */
export type BatchAction = 'replay' | 'discard' | 'send'

/** Result of one step of a batch. */
export interface Step {
  /** Deliveries or events of this step. */
  readonly done: number
  /** `true` after the last step. */
  readonly isLast: boolean
}

/** Work of a batch, in steps. */
export interface BatchWork {
  readonly action: BatchAction
  /** What it concerns, for people: a filter, or the type of the events. */
  readonly about: string
  readonly total: number
  /** Filter for the deliveries that it makes; null if it makes none. */
  readonly batch: string | null
  readonly step: () => Promise<Step>
  /** Pause after a step of so many. */
  readonly pauseMs: (done: number) => number
}

/** A batch, under way or ended. */
export interface Batch extends Pick<BatchWork, 'action' | 'about' | 'total' | 'batch'> {
  readonly id: string
  readonly state: 'running' | 'done' | 'stopped' | 'failed'
  readonly done: number
  readonly startedAt: number
  readonly endedAt: number | null
  readonly error: string | null
}

/** Ended batches that are kept. */
const KEPT = 20

/** Runs batches until they end, whoever watches. They end with this process: what is left can be started again. */
export class Batches {
  readonly #all = new Map<string, Batch>()
  readonly #stopped = new Set<string>()
  readonly #now: () => number
  readonly #changed: (batch: Batch) => void
  #isClosed = false

  constructor(now: () => number, changed: (batch: Batch) => void) {
    this.#now = now
    this.#changed = changed
  }

  /** Newest first. */
  list(): readonly Batch[] {
    return [...this.#all.values()].reverse()
  }

  find(id: string): Batch | undefined {
    return this.#all.get(id)
  }

  start(work: BatchWork): Batch {
    const { action, about, total, batch } = work
    const started: Batch = {
      ...{ id: newId('bat_'), action, about, total, batch },
      ...{ state: 'running', done: 0, startedAt: this.#now(), endedAt: null, error: null },
    }
    this.#put(started)
    void this.#run(started.id, work)
    return started
  }

  /** Stops a batch after the step under way. */
  stop(id: string): void {
    if (this.#all.get(id)?.state === 'running') this.#stopped.add(id)
  }

  /** Stops all, and forgets them. */
  clear(): void {
    for (const id of this.#all.keys()) this.stop(id)
    this.#all.clear()
  }

  close(): void {
    this.#isClosed = true
    this.clear()
  }

  async #run(id: string, { step, pauseMs }: BatchWork): Promise<void> {
    try {
      for (;;) {
        // A turn of its own for each step, so that requests are answered meanwhile.
        await new Promise(setImmediate)
        if (this.#isStopped(id)) return this.#end(id, 'stopped', null)
        const startedAt = performance.now()
        const { done, isLast } = await step()
        this.#put(id, one => ({ ...one, done: one.done + done }))
        if (isLast) return this.#end(id, 'done', null)
        const left = pauseMs(done) - (performance.now() - startedAt)
        if (left > 0) await new Promise(resolve => setTimeout(resolve, left).unref())
      }
    } catch (error) {
      this.#end(id, 'failed', error instanceof Error ? error.message : String(error))
    }
  }

  #isStopped(id: string): boolean {
    return this.#isClosed || this.#stopped.has(id)
  }

  #end(id: string, state: Batch['state'], error: string | null): void {
    this.#stopped.delete(id)
    this.#put(id, one => ({ ...one, state, error, endedAt: this.#now() }))
    const ended = [...this.#all.values()].filter(one => one.state !== 'running')
    for (const { id } of ended.slice(0, -KEPT)) this.#all.delete(id)
  }

  #put(batch: Batch): void
  #put(id: string, change: (before: Batch) => Batch): void
  #put(one: Batch | string, change: (before: Batch) => Batch = before => before): void {
    const before = typeof one === 'string' ? this.#all.get(one) : one
    // Forgotten by a reset.
    if (before === undefined || this.#isClosed) return
    const batch = change(before)
    this.#all.set(batch.id, batch)
    this.#changed(batch)
  }
}

import type { EventQueue } from './event-job.ts'

/** A pause of a queue. BullMQ stores it as a flag, which dashboards set and show too. */
export interface QueuePause {
  /** Time of the pause in milliseconds since the epoch. For one that was made elsewhere, when it was first noticed. */
  readonly since: number
  /** `true` if it was made with `handling.pause()`. */
  readonly isOwn: boolean
}

/** Stores, beside BullMQ's flag, what BullMQ does not: when the queue was paused, and how. */
export interface PauseRecord {
  /** Returns BullMQ's flag and the record, each if there is one. */
  read(): Promise<readonly [flag: unknown, record: unknown]>
  write(record: string): Promise<unknown>
  /** Writes a record unless there is one. */
  add(record: string): Promise<unknown>
  forget(): Promise<unknown>
}

/** Field of BullMQ's `meta` of the queue. */
export const PAUSE_FIELD = 'ackhook-paused'

const RECORD = /^(own|seen) (\d+)$/

/** Reads BullMQ's flag and the record. The record of a pause that has ended elsewhere counts as none, and is dropped. */
export function readPause(
  flag: unknown,
  record: unknown,
  now: number = Date.now(),
): { readonly pause: QueuePause | undefined; readonly isStale: boolean } {
  const [, how, since] = RECORD.exec(String(record)) ?? []
  if (flag === null || flag === undefined) return { pause: undefined, isStale: how !== undefined }
  return { pause: { since: Number(since ?? now), isOwn: how === 'own' }, isStale: false }
}

/** Pauses one queue by BullMQ's own means, and knows since when it is paused. */
export class PauseSwitch {
  readonly #queue: Pick<EventQueue, 'pause' | 'resume' | 'isPaused'>
  readonly #record: PauseRecord

  constructor(queue: Pick<EventQueue, 'pause' | 'resume' | 'isPaused'>, record: PauseRecord) {
    this.#queue = queue
    this.#record = record
  }

  async pause(): Promise<boolean> {
    if (await this.#queue.isPaused()) return false
    // The flag first: a record without it would be dropped.
    await this.#queue.pause()
    await this.#record.write(`own ${Date.now()}`)
    return true
  }

  async resume(): Promise<boolean> {
    if (!(await this.#queue.isPaused())) return false
    await this.#queue.resume()
    await this.#record.forget()
    return true
  }

  async paused(): Promise<QueuePause | undefined> {
    const [flag, record] = await this.#record.read()
    const { pause } = readPause(flag, record)
    // A tool may have read-only access.
    if (pause !== undefined && record === null)
      // Not in the place of the record of an own pause, which may come between the two.
      await this.#record.add(`seen ${pause.since}`).catch(() => {})
    return pause
  }
}

import type { MaybePromise } from '../lib/maybe-promise.ts'

/** Counts by name. {@link activityName} writes the names, {@link readActivityName} reads them. */
export type ActivityCounts = Readonly<Record<string, number>>

/** What all processes of an inbox did within one slot of time. */
export interface ActivitySlot {
  /** Milliseconds since the epoch, a multiple of `lengthMs`. */
  readonly startedAt: number
  readonly lengthMs: number
  readonly counts: ActivityCounts
}

/** What one process has counted, to be added to a slot. */
export interface CountedSlot extends ActivitySlot {
  /** Slots of this length that began before this time are over, and may be deleted. */
  readonly keptSince: number
}

/** Slots of one length that begin at or after `since`, in milliseconds since the epoch. */
export interface ActivityQuery {
  readonly lengthMs: number
  readonly since: number
}

/** Reads what an inbox's processes did. */
export interface ActivityLog {
  /** The oldest slot first. A slot in which nothing happened is missing. */
  read(query: ActivityQuery): MaybePromise<readonly ActivitySlot[]>
}

/**
 * Adds counts to those of the same slots, atomically. An inbox only adds: it reads nothing from the names. The slots come
 * in the same order in every process. A slot whose counts would exceed {@link MAX_SLOT_BYTES} as JSON stays as it is.
 */
export type AddActivity = (slots: readonly CountedSlot[]) => MaybePromise<unknown>

/** What this process counts, for an inbox that keeps it. */
export interface ActivitySource {
  /**
   * Passes counts to `add` every few seconds, if there are any. What it fails to add is dropped: a figure delays and
   * costs nothing. An inbox calls this when it starts.
   */
  begin(add: AddActivity): void
  /** Passes on the counts that are left. An inbox that closes calls this once its attempts have ended. Never rejects. */
  end(): Promise<void>
}

/** Most bytes that the counts of a slot may take as JSON. */
export const MAX_SLOT_BYTES = 65_536

/** A span of time for which figures are kept. */
export type ActivityWindow = '1h' | '24h' | '7d'

const MINUTE_MS = 60_000

/** The slots of each window. A count is added to one slot of each length. */
export const ACTIVITY_WINDOWS: Readonly<
  Record<ActivityWindow, { readonly lengthMs: number; readonly slots: number }>
> = {
  '1h': { lengthMs: MINUTE_MS, slots: 60 },
  '24h': { lengthMs: 30 * MINUTE_MS, slots: 48 },
  '7d': { lengthMs: 180 * MINUTE_MS, slots: 56 },
}

/** Returns the query for a window that ends now. Its last slot is the one under way. */
export function activityQuery(window: ActivityWindow, now: number): ActivityQuery {
  const { lengthMs, slots } = ACTIVITY_WINDOWS[window]
  return { lengthMs, since: now - (now % lengthMs) - (slots - 1) * lengthMs }
}

/** Returns the slots of all lengths to which counts of this moment are added. */
export function slotsAt(now: number, counts: ActivityCounts): readonly CountedSlot[] {
  return Object.values(ACTIVITY_WINDOWS).map(({ lengthMs, slots }) => {
    const startedAt = now - (now % lengthMs)
    return { startedAt, lengthMs, counts, keptSince: startedAt - slots * lengthMs }
  })
}

/**
 * What is counted. `accepted`: events accepted, without redrives. `ingested`: those of them that came by `ingest`. `handled`: attempts that succeeded. `failed`: attempts
 * that failed. `retried`: those that another attempt follows. `deadLettered`: events that became dead letters.
 */
export type Counted = 'accepted' | 'ingested' | 'handled' | 'failed' | 'retried' | 'deadLettered'

/** `lag`: from acceptance, or a redrive, to the first attempt. `time`: from the beginning of an attempt to its end. */
export type Timed = 'lag' | 'time'

const CODES = {
  accepted: 'a',
  ingested: 'i',
  handled: 'h',
  failed: 'f',
  retried: 'r',
  deadLettered: 'd',
} as const
const TIME_CODES = { lag: 'l', time: 't' } as const

/** Returns the name of a count of one type. `bucket`: for times, see {@link bucketOf}. */
export function activityName(counted: Counted, type: string): string
export function activityName(timed: Timed, type: string, bucket: number): string
export function activityName(counted: Counted | Timed, type: string, bucket = 0): string {
  if (counted === 'lag' || counted === 'time') return `${TIME_CODES[counted]}${bucket} ${type}`
  return `${CODES[counted]} ${type}`
}

/** Stands for all types beyond those that are counted one by one. No event has this type. */
export const OTHER_TYPES = '*'

/** A count's parts. */
export interface ActivityName {
  readonly counted: Counted | Timed
  /** {@link OTHER_TYPES} for all others. */
  readonly type: string
  /** For times only. */
  readonly bucket: number
}

const NAME = /^([aihfrdlt])(\d{0,3}) (.*)$/s
const BY_CODE: Readonly<Record<string, Counted | Timed>> = Object.fromEntries(
  Object.entries({ ...CODES, ...TIME_CODES }).map(([name, code]) => [code, name as Counted | Timed]),
)

/** Returns the parts of a name. `undefined` if a later release has written it. */
export function readActivityName(name: string): ActivityName | undefined {
  const [, code = '', bucket = '', type = ''] = NAME.exec(name) ?? []
  const counted = BY_CODE[code]
  return counted === undefined ? undefined : { counted, type, bucket: Number(bucket) }
}

/**
 * Buckets per doubling of a time: the limits of a bucket are 19 % apart, so its middle is at most 9 % from any time in it.
 * Fixed limits can be added up by any engine, without reading them first, unlike the centroids of a sketch.
 */
const PER_DOUBLING = 4
/** The last bucket has everything from 7 days on. */
export const BUCKETS: number = 2 + Math.ceil(Math.log2(7 * 86_400_000) * PER_DOUBLING)

/** Returns the bucket of a time in milliseconds. The first one has everything below 1 ms. */
export function bucketOf(ms: number): number {
  if (!(ms >= 1)) return 0
  return Math.min(BUCKETS - 1, 1 + Math.floor(Math.log2(ms) * PER_DOUBLING))
}

/** Returns the middle of a bucket, in milliseconds. */
export function bucketMs(bucket: number): number {
  return bucket === 0 ? 0.5 : 2 ** ((bucket - 0.5) / PER_DOUBLING)
}

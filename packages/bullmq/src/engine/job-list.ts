import { ConfigurationError } from '@ackhook/core'

/** A position in a list: its sort key, then the job's id. */
export interface Position {
  readonly at: number
  readonly jobId: string
}

export interface JobQuery {
  /**
   * `dead`: by time of death. `active`: by time of acceptance. `pending`: by arrival, as far as an index has that
   * order.
   */
  readonly state: 'dead' | 'active' | 'pending'
  readonly order: 'newest' | 'oldest'
  readonly after?: Position | undefined
  readonly limit: number
  /** `true` to include the bodies, which may make a page large. */
  readonly bodies: boolean
}

/** A job as listed on a page. */
export interface ListedJob {
  readonly id: string
  readonly name: string
  /**
   * The stored text, even another producer's. `undefined` if the server has lost it. Without bodies, each body is
   * empty.
   */
  readonly data: string | undefined
  readonly attemptsMade: number
  readonly failedReason?: string | undefined
  /** Milliseconds since the epoch. */
  readonly finishedOn?: number | undefined
  /** Time at which a delayed job is due, in milliseconds since the epoch. */
  readonly dueAt?: number | undefined
  /** Time at which it was added, in milliseconds since the epoch. */
  readonly addedAt: number
  /** Sort key of the list. */
  readonly at: number
}

/** One job, with its state. */
export interface FoundJob extends ListedJob {
  /** JSON of the stacks that BullMQ has kept, the last one's last. */
  readonly stacks?: string | undefined
  readonly state: JobQuery['state'] | 'handled'
}

/** Part of a page that is read at a time. */
export interface SliceQuery extends JobQuery {
  /** Bytes after which the slice ends. */
  readonly sliceBytes: number
  /** Bytes that the first job may have, even beyond `sliceBytes`. `undefined`: any number. */
  readonly firstBytes: number | undefined
}

export interface Slice {
  readonly jobs: readonly ListedJob[]
  /** Places in the list that were read. Some may have no job to list. */
  readonly places: number
  /** The last of these places. `undefined` at the end of the list, or if the next job does not fit. */
  readonly last: Position | undefined
}

/** Stored bytes of a page's jobs: 4 MiB of bodies, and their envelopes. */
export const PAGE_BYTES: number = 4_194_304 + 65_536
/**
 * Bytes that the server sends at a time, so that a long page does not delay deliveries on the server or its connection.
 */
const SLICE_BYTES = 524_288
const SLICE = 250
/** Bytes of a job apart from its data and the reason. */
export const JOB_BYTES = 200

/**
 * Reads a page in slices, each short for the server, so that other calls on the same connection run in between. The
 * page ends early once its stored bytes exceed a limit, but never before the first job.
 */
export async function readPage(
  query: JobQuery,
  readSlice: (slice: SliceQuery) => Promise<Slice>,
  firstSlice: number = SLICE,
): Promise<readonly ListedJob[]> {
  const found: ListedJob[] = []
  let { after } = query
  let [asked, leftBytes] = [firstSlice, PAGE_BYTES]
  while (found.length < query.limit) {
    const limit = Math.min(asked, query.limit - found.length)
    const sliceBytes = query.bodies ? Math.min(SLICE_BYTES, leftBytes) : SLICE_BYTES
    const firstBytes = query.bodies && found.length > 0 ? leftBytes : undefined
    const { jobs, places, last } = await readSlice({ ...query, after, limit, sliceBytes, firstBytes })
    found.push(...jobs)
    if (last === undefined) break
    after = last
    for (const job of jobs) leftBytes -= bytesOf(job)
    // Some servers measure a job before its data's length is known.
    asked = places < limit ? Math.max(1, places) : Math.min(SLICE, asked * 2)
  }
  return found
}

/** Returns the stack of the last failure. */
export function lastStackOf({ stacks = '' }: FoundJob): string | undefined {
  try {
    const last: unknown = (JSON.parse(stacks) as unknown[]).at(-1)
    return typeof last === 'string' && last !== '' ? last : undefined
  } catch {
    return undefined
  }
}

export function bytesOf({ data = '', failedReason = '' }: ListedJob): number {
  return Buffer.byteLength(data) + Buffer.byteLength(failedReason) + JOB_BYTES
}

/** Oldest first. */
export function byPosition(a: Pick<ListedJob, 'at' | 'id'>, b: Pick<ListedJob, 'at' | 'id'>): number {
  return a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}

const CURSOR = /^(\d{1,16})\.(.+)$/s

export function cursorOf({ at, id }: Pick<ListedJob, 'at' | 'id'>): string {
  return `${at}.${id}`
}

/** Returns a cursor's position. Throws {@link ConfigurationError} for a text that was never a cursor. */
export function parseCursor(cursor: string): Position {
  const [, at, jobId] = CURSOR.exec(cursor) ?? []
  if (at !== undefined && jobId !== undefined) return { at: Number(at), jobId }
  throw new ConfigurationError('after', `must be the cursor of the last item of a page; got '${cursor}'`)
}

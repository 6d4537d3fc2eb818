import { ConfigurationError } from '@ackhook/core'

/** A position in a list: its sort key, then the job's id. */
export interface Position {
  readonly at: number
  readonly jobId: string
}

export interface JobQuery {
  /**
   * `dead`: by the time of death. `active`: by the time of acceptance. `pending`: in the order in which they came, where
   * an index has it.
   */
  readonly state: 'dead' | 'active' | 'pending'
  readonly order: 'newest' | 'oldest'
  readonly after?: Position | undefined
  readonly limit: number
  /** `true` to include the bodies, of which a page could be large. */
  readonly bodies: boolean
}

/** A job as a page lists it. */
export interface ListedJob {
  readonly id: string
  readonly name: string
  /**
   * The stored text, another producer's too. `undefined` if the server has lost it. Without bodies: with an empty one in
   * the place of each.
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
  /** The name of its queue, if an inbox has several. */
  readonly queue?: string | undefined
}

/** One job, with its state. */
export interface FoundJob extends ListedJob {
  readonly state: JobQuery['state'] | 'handled'
}

/** The part of a page that is read at a time. */
export interface SliceQuery extends JobQuery {
  /** Bytes after which it ends. */
  readonly sliceBytes: number
  /** Bytes that the first job may have, beyond `sliceBytes` too. `undefined`: any number. */
  readonly firstBytes: number | undefined
}

export interface Slice {
  readonly jobs: readonly ListedJob[]
  /** Places of the list that were read. Some may have no job to list. */
  readonly places: number
  /** The last of these places. `undefined` at the end of the list, or if the next job does not fit. */
  readonly last: Position | undefined
}

/** Stored bytes of the jobs on one page: 4 MiB of bodies, and their envelopes. */
export const PAGE_BYTES: number = 4_194_304 + 65_536
/** Bytes that the server sends at a time, so that a long page keeps neither the server nor a connection from deliveries. */
const SLICE_BYTES = 524_288
const SLICE = 250
/** Bytes of a job besides its data and the reason. */
export const JOB_BYTES = 200

/**
 * Reads a page in slices: each is short for the server, and other calls on the same connection come in between. The page ends
 * early once its stored bytes exceed a bound, but never before the first job.
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
    // Some servers measure a job before they know the length of its data.
    asked = places < limit ? Math.max(1, places) : Math.min(SLICE, asked * 2)
  }
  return found
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

/** Returns a cursor's position. Throws {@link ConfigurationError} for anything that was never a cursor. */
export function parseCursor(cursor: string): Position {
  const [, at, jobId] = CURSOR.exec(cursor) ?? []
  if (at !== undefined && jobId !== undefined) return { at: Number(at), jobId }
  throw new ConfigurationError('after', `must be the cursor of the last item of a page; got '${cursor}'`)
}

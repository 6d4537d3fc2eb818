import type { RedisConnectionClient } from 'bullmq'
import {
  byPosition,
  type FoundJob,
  type JobQuery,
  type ListedJob,
  readPage,
  type Slice,
  type SliceQuery,
} from '../engine/job-list.ts'
import { FIND_JOB, LIST_DEAD, READ_JOBS } from './list-scripts.ts'

/** Bytes of data that one script reads without sending them. */
const READ_BYTES = 4_000_000
const READ_AT_ONCE = 250

/** Id, position, and the fields of a job: name, data, attempts, reason, end and beginning. */
type Reply = readonly [string, ...(string | null)[]]

/**
 * Dead letters are in a sorted set, and running jobs in a short list. Waiting jobs are in a list without an order by
 * age or an index by id, next to a set of delayed jobs, so no page of them could be stable.
 */
export class RedisJobList {
  readonly #client: RedisConnectionClient
  readonly #keyOf: (name: string) => string

  constructor(client: RedisConnectionClient, keyOf: (name: string) => string) {
    this.#client = client
    this.#keyOf = keyOf
  }

  async list(query: JobQuery): Promise<readonly ListedJob[]> {
    return query.state === 'active' ? this.#active(query) : readPage(query, slice => this.#dead(slice))
  }

  async find(jobId: string): Promise<FoundJob | undefined> {
    const keys = ['failed', 'completed', 'active'].map(this.#keyOf)
    const args = [this.#keyOf(''), 1, jobId]
    const found = await this.#client['eval'](FIND_JOB, keys.length, ...keys, ...args)
    if (found === null) return undefined
    const [state, ...reply] = found as [FoundJob['state'], ...Reply]
    return { ...toJob(reply), state, stacks: reply[8] ?? undefined }
  }

  async #dead(slice: SliceQuery): Promise<Slice> {
    const { order, after, limit, bodies, sliceBytes, firstBytes } = slice
    const place = [after?.at ?? '', after?.jobId ?? '']
    const bytes = bodies ? [sliceBytes, firstBytes ?? ''] : [READ_BYTES, '']
    const args = [this.#keyOf(''), Number(bodies), order, ...place, limit, ...bytes]
    const reply = await this.#client['eval'](LIST_DEAD, 1, this.#keyOf('failed'), ...args)
    const [found, places, at, jobId] = reply as [Reply[], number, string | null, string]
    const last = at === null ? undefined : { at: Number(at), jobId }
    return { jobs: found.map(toJob), places: Number(places), last }
  }

  async #active({ after, limit, bodies }: JobQuery): Promise<readonly ListedJob[]> {
    const key = this.#keyOf('active')
    const ids: string[] = await this.#client['lrange'](key, 0, -1)
    const jobs: ListedJob[] = []
    while (jobs.length < ids.length) {
      const wanted = ids.slice(jobs.length, jobs.length + READ_AT_ONCE)
      const args = [this.#keyOf(''), Number(bodies), READ_BYTES, ...wanted]
      const found = (await this.#client['eval'](READ_JOBS, 1, key, ...args)) as Reply[]
      jobs.push(...found.map(toJob))
    }
    return (
      jobs
        // The event may have been handled and forgotten meanwhile.
        .filter(({ addedAt }) => addedAt > 0)
        .map(job => ({ ...job, at: job.addedAt }))
        .toSorted(byPosition)
        .filter(job => after === undefined || byPosition({ at: after.at, id: after.jobId }, job) < 0)
        .slice(0, limit)
    )
  }
}

function toJob([id, at, name, data, attempts, failedReason, finishedOn, addedAt]: Reply): ListedJob {
  return {
    id,
    name: name ?? '',
    data: data ?? undefined,
    attemptsMade: Number(attempts ?? 0),
    failedReason: failedReason ?? undefined,
    finishedOn: finishedOn ? Number(finishedOn) : undefined,
    addedAt: Number(addedAt ?? 0),
    at: Number(at ?? 0),
  }
}

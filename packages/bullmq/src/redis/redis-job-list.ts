import type { RedisConnectionClient } from 'bullmq'
import type { JobQuery, ListedJob, Position } from '../engine/job-list.ts'

/** Jobs that are read at a time, each with its body. */
const CHUNK = 500

/**
 * Dead letters are in a sorted set, and what runs is a short list. What waits is in a list without an order by age or an
 * index by id, beside a set of what is delayed: no page of it could be stable.
 */
export class RedisJobList {
  readonly #client: RedisConnectionClient
  readonly #keyOf: (name: string) => string

  constructor(client: RedisConnectionClient, keyOf: (name: string) => string) {
    this.#client = client
    this.#keyOf = keyOf
  }

  async list(query: JobQuery): Promise<readonly ListedJob[]> {
    return query.state === 'active' ? this.#active(query) : this.#dead(query)
  }

  async #dead(query: JobQuery): Promise<readonly ListedJob[]> {
    const found: ListedJob[] = []
    let { after } = query
    while (found.length < query.limit) {
      const limit = Math.min(CHUNK, query.limit - found.length)
      const positions = await this.#positionsOfDead({ ...query, after, limit })
      const jobs = await this.#read(positions.map(({ jobId }) => jobId))
      for (const [i, job] of jobs.entries()) {
        // It may have been redriven since.
        if (job?.finishedOn !== undefined) found.push({ ...job, at: positions[i]!.at })
      }
      if (positions.length < limit) break
      after = positions.at(-1)
    }
    return found
  }

  async #positionsOfDead({ order, after, limit }: JobQuery): Promise<readonly Position[]> {
    const key = this.#keyOf('failed')
    const tied = after === undefined ? [] : await this.#afterTied(key, after, order)
    if (tied.length >= limit) return tied.slice(0, limit)
    const [command, from, to] =
      order === 'newest'
        ? (['zrevrangebyscore', '+inf', '-inf'] as const)
        : (['zrangebyscore', '-inf', '+inf'] as const)
    const start = after === undefined ? from : `(${after.at}`
    const scored: string[] = await this.#client[command](
      key,
      start,
      to,
      'WITHSCORES',
      'LIMIT',
      0,
      limit - tied.length,
    )
    const positions = [...tied]
    for (let i = 0; i < scored.length; i += 2)
      positions.push({ jobId: scored[i]!, at: Number(scored[i + 1]) })
    return positions
  }

  /** Those that died in the same millisecond, in Redis' order: by the bytes of their ids. */
  async #afterTied(key: string, after: Position, order: JobQuery['order']): Promise<readonly Position[]> {
    const ids: string[] = await this.#client['zrangebyscore'](key, after.at, after.at)
    const beyond = ids.filter(id => (order === 'newest' ? id < after.jobId : id > after.jobId)).sort()
    if (order === 'newest') beyond.reverse()
    return beyond.map(jobId => ({ jobId, at: after.at }))
  }

  async #active({ after, limit }: JobQuery): Promise<readonly ListedJob[]> {
    const ids: string[] = await this.#client['lrange'](this.#keyOf('active'), 0, -1)
    const jobs = (await this.#read(ids)).filter(job => job !== undefined)
    return jobs
      .toSorted(byPosition)
      .filter(job => after === undefined || byPosition({ at: after.at, id: after.jobId }, job) < 0)
      .slice(0, limit)
  }

  /** The jobs that exist, with the time of their acceptance as their position. */
  #read(ids: readonly string[]): Promise<readonly (ListedJob | undefined)[]> {
    return Promise.all(ids.map(id => this.#readOne(id)))
  }

  async #readOne(id: string): Promise<ListedJob | undefined> {
    const [name, data, attempts, failedReason, finishedOn, timestamp] = (await this.#client['hmget'](
      this.#keyOf(id),
      ...FIELDS,
    )) as (string | null)[]
    if (!name || !data) return undefined
    return {
      id,
      name,
      data: JSON.parse(data),
      attemptsMade: Number(attempts ?? 0),
      failedReason: failedReason ?? undefined,
      finishedOn: finishedOn ? Number(finishedOn) : undefined,
      at: Number(timestamp ?? 0),
    }
  }
}

const FIELDS = ['name', 'data', 'atm', 'failedReason', 'finishedOn', 'timestamp']

type Positioned = Pick<ListedJob, 'at' | 'id'>

function byPosition(a: Positioned, b: Positioned): number {
  return a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}

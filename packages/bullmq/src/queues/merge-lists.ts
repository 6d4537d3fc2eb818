import { byPosition, bytesOf, type JobQuery, type ListedJob, PAGE_BYTES } from '../engine/job-list.ts'

type List = (query: JobQuery) => Promise<readonly ListedJob[]>

/** Jobs read beyond an even share of a page, since no list has exactly that share. */
const SPARE = 8

/** Returns one page of several lists. It ends early, as a single list's does. */
export async function mergeLists(lists: readonly List[], query: JobQuery): Promise<readonly ListedJob[]> {
  const limit = Math.min(query.limit, Math.ceil(query.limit / lists.length) + SPARE)
  const sources = lists.map(list => new Source(list, { ...query, limit }))
  const direction = query.order === 'newest' ? -1 : 1
  const page: ListedJob[] = []
  let leftBytes = PAGE_BYTES
  while (page.length < query.limit) {
    await Promise.all(sources.map(source => source.fill()))
    const [next] = sources
      .filter(({ head }) => head !== undefined)
      .sort((a, b) => direction * byPosition(a.head!, b.head!))
    if (next === undefined) break
    leftBytes -= bytesOf(next.head!)
    if (query.bodies && page.length > 0 && leftBytes < 0) break
    page.push(next.take())
  }
  return page
}

/** One of the lists, read a page at a time. */
class Source {
  readonly #list: List
  #query: JobQuery
  #jobs: readonly ListedJob[] = []
  #taken = 0
  #ended = false

  constructor(list: List, query: JobQuery) {
    this.#list = list
    this.#query = query
  }

  get head(): ListedJob | undefined {
    return this.#jobs[this.#taken]
  }

  take(): ListedJob {
    return this.#jobs[this.#taken++]!
  }

  /** A short page proves nothing: only an empty one is the end. */
  async fill(): Promise<void> {
    if (this.head !== undefined || this.#ended) return
    this.#jobs = await this.#list(this.#query)
    this.#taken = 0
    const last = this.#jobs.at(-1)
    this.#ended = last === undefined
    if (last !== undefined) this.#query = { ...this.#query, after: { at: last.at, jobId: last.id } }
  }
}

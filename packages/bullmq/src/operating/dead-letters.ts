import type { DeadLetter, DeadLetterGroup, LetterGroups, ListOptions } from '@ackhook/core'
import { type DeadLetterStore, GroupCount, letterGroup } from '@ackhook/core/spi'
import type { Engine } from '../engine/engine.ts'
import { jobIdOf } from '../engine/event-job.ts'
import {
  cursorOf,
  type FoundJob,
  type ListedJob,
  lastStackOf,
  type Position,
  parseCursor,
} from '../engine/job-list.ts'
import { askEngine, type EngineSource } from '../engine/reaching.ts'
import { deliveryOf } from '../engine/unreadable-job.ts'
import { NO_REASON } from '../processing/job-errors.ts'

const DEADLINE_MS = 5000
const MAX_LISTED = 1_000_000
/** Bytes of all bodies on a page. The engine's own limit counts stored bytes, which are slightly more. */
const PAGE_BYTES = 4_194_304
/** Newest letters that are counted by group: BullMQ has no index for them. */
const MAX_COUNTED = 10_000
/** Letters read at a time to be counted or compared, without their bodies. */
const COUNTED_AT_ONCE = 1000
/** Letters of a group whose bodies are read at a time. */
const FOUND_AT_ONCE = 50

type Ask = <T>(operation: string, answer: (engine: Engine) => Promise<T>) => Promise<T>

/** BullMQ's failed jobs, which it never removes by itself. */
export function createDeadLetters(source: EngineSource): DeadLetterStore {
  const ask: Ask = (operation, answer) => {
    return askEngine(source, answer, { operation: `deadLetters.${operation}`, ms: DEADLINE_MS })
  }
  return {
    list: async ({ group, ...options } = {}) => {
      const after = options.after === undefined ? undefined : parseCursor(options.after)
      if (group !== undefined) return listGroup(ask, group, { ...options, after })
      return ask('list', engine => list(engine, { ...options, after }))
    },
    groups: options => countGroups(ask, options?.limit),
    get: key => ask('get', engine => get(engine, key)),
    redrive: async key => (await ask('redrive', engine => redriveMany(engine, [key]))).length === 1,
    discard: async key => (await ask('discard', engine => discardMany(engine, [key]))).length === 1,
    redriveMany: keys => ask('redriveMany', engine => redriveMany(engine, keys)),
    discardMany: keys => ask('discardMany', engine => discardMany(engine, keys)),
    now: () => ask('now', engine => engine.now()),
    discardOlder: ({ failedBefore, limit }) =>
      ask('discardOlder', engine => engine.discardOlder(Math.floor(failedBefore), limit)),
  }
}

/** The dead job with this key, as an event or as an unreadable job. */
export async function findDead(engine: Engine, key: string): Promise<FoundJob | undefined> {
  const own = await engine.find(jobIdOf(key))
  if (own?.state === 'dead') return own
  const jobId = await engine.findName(key)
  const named = jobId === undefined ? undefined : await engine.find(jobId)
  return named?.state === 'dead' ? named : undefined
}

/** Changes the dead letters with these keys, looking up the ids of unreadable jobs. Returns the changed keys. */
async function change(
  engine: Engine,
  keys: readonly string[],
  apply: (jobIds: readonly string[]) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const own = new Set(await apply(keys.map(jobIdOf)))
  const changed = keys.filter(key => own.has(jobIdOf(key)))
  const rest = keys.filter(key => !own.has(jobIdOf(key)))
  const names = await Promise.all(rest.map(async key => ({ key, jobId: await engine.findName(key) })))
  const jobIds = names.flatMap(({ jobId }) => jobId ?? [])
  if (jobIds.length === 0) return changed
  const others = new Set(await apply(jobIds))
  return [...changed, ...names.filter(({ jobId }) => jobId && others.has(jobId)).map(({ key }) => key)]
}

function discardMany(engine: Engine, keys: readonly string[]): Promise<readonly string[]> {
  return change(engine, keys, jobIds => engine.discardMany(jobIds))
}

async function redriveMany(engine: Engine, keys: readonly string[]): Promise<readonly string[]> {
  const redriven = await change(engine, keys, jobIds => engine.requeueMany(jobIds))
  const now = Date.now()
  const minute = { startedAt: now - (now % 60_000), received: redriven.length, handled: 0, deadLettered: 0 }
  // This count is only informative, so no redrive fails because of it.
  if (redriven.length > 0) engine.board.count(minute).catch(() => {})
  return redriven
}

interface PageOptions extends Omit<ListOptions, 'after' | 'group'> {
  readonly after?: Position | undefined
}

async function list(
  engine: Engine,
  { limit = 100, order = 'newest', after }: PageOptions,
): Promise<readonly DeadLetter[]> {
  const count = Math.min(Math.floor(limit), MAX_LISTED)
  if (!(count >= 1)) return []
  const jobs = await engine.list({ state: 'dead', order, after, limit: count, bodies: true })
  const letters = await Promise.all(jobs.map(job => toDeadLetter(job, engine.name)))
  await nameUnreadable(engine, letters)
  return withinBytes(letters.map(({ letter }) => letter))
}

/** Reads on without bodies until letters of the group are found, each page within a deadline of its own. */
async function listGroup(
  ask: Ask,
  group: string,
  { limit = 100, order = 'newest', after: start }: PageOptions,
): Promise<readonly DeadLetter[]> {
  const most = Math.min(Math.floor(limit), MAX_LISTED)
  if (!(most >= 1)) return []
  for (let after = start; ; ) {
    const heads = await ask('list', engine => readHeads(engine, { order, after }))
    const last = heads.at(-1)
    if (last === undefined) return []
    const wanted = heads
      .filter(({ letter }) => letter.group === group)
      .slice(0, Math.min(most, FOUND_AT_ONCE))
    const letters = await ask('list', engine => withBodies(engine, wanted))
    if (letters.length > 0) return withinBytes(letters)
    after = parseCursor(last.letter.cursor)
  }
}

/** Omits letters that are gone meanwhile. */
async function withBodies(engine: Engine, wanted: readonly Letter[]): Promise<readonly DeadLetter[]> {
  const found = await Promise.all(
    wanted.map(async ({ letter, jobId }) => {
      const job = await engine.find(jobId)
      if (job?.state !== 'dead') return []
      const whole = await toDeadLetter(job, engine.name)
      return [{ ...letter, body: whole.letter.body }]
    }),
  )
  return found.flat()
}

/** Counts the newest letters. */
async function countGroups(ask: Ask, limit: number | undefined): Promise<LetterGroups> {
  const count = new GroupCount()
  const jobIds = new Map<string, string>()
  let after: Position | undefined
  let isPartial = false
  do {
    const heads = await ask('groups', engine => readHeads(engine, { order: 'newest', after }))
    for (const { letter, jobId } of heads) {
      count.add(letter)
      jobIds.set(letter.key, jobId)
    }
    const last = heads.at(-1)
    after = last && parseCursor(last.letter.cursor)
    isPartial = count.counted >= MAX_COUNTED
  } while (after !== undefined && !isPartial)
  const groups = await Promise.all(
    count.list(limit).map(one => ask('groups', engine => withStack(engine, one, jobIds.get(one.sample.key)))),
  )
  return {
    groups,
    counted: count.counted,
    ...(isPartial && after !== undefined && { isPartial: true as const }),
  }
}

async function withStack(
  engine: Engine,
  group: DeadLetterGroup,
  jobId: string | undefined,
): Promise<DeadLetterGroup> {
  const job = jobId === undefined ? undefined : await engine.find(jobId)
  const stack = job && lastStackOf(job)
  return stack === undefined ? group : { ...group, sample: { ...group.sample, stack } }
}

async function readHeads(
  engine: Engine,
  place: { readonly order: 'newest' | 'oldest'; readonly after: Position | undefined },
): Promise<readonly Letter[]> {
  const jobs = await engine.list({ ...place, state: 'dead', limit: COUNTED_AT_ONCE, bodies: false })
  return Promise.all(jobs.map(job => toDeadLetter(job, engine.name)))
}

/** The first dead letters whose bodies total {@link PAGE_BYTES}; at least one. */
function withinBytes(letters: readonly DeadLetter[]): readonly DeadLetter[] {
  let bytes = 0
  const end = letters.findIndex(({ body }, i) => {
    bytes += body.length
    return i > 0 && bytes > PAGE_BYTES
  })
  return end === -1 ? letters : letters.slice(0, end)
}

async function get(engine: Engine, key: string): Promise<DeadLetter | undefined> {
  const job = await findDead(engine, key)
  return job && (await toDeadLetter(job, engine.name)).letter
}

interface Letter {
  readonly letter: DeadLetter & { readonly group: string }
  readonly jobId: string
  readonly isReadable: boolean
}

async function toDeadLetter(job: ListedJob, queueName: string): Promise<Letter> {
  const { delivery, isReadable, reason } = await deliveryOf(job, queueName)
  const { key, namespace, id, type, body, receivedAt, trace } = delivery
  const { finishedOn, attemptsMade } = job
  // BullMQ drops an empty reason.
  const text = reason ?? NO_REASON
  const letter = {
    key,
    namespace,
    id,
    type,
    body,
    receivedAt,
    failedAt: finishedOn ?? job.at,
    attempts: attemptsMade,
    reason: text,
    group: letterGroup({ id, type, reason: text }),
    ...(trace && { trace }),
    cursor: cursorOf(job),
  }
  return { letter, jobId: job.id, isReadable }
}

/** Makes each dead letter findable by its id. A worker does so too, but jobs may have died before it could. */
async function nameUnreadable(engine: Engine, letters: readonly Letter[]): Promise<void> {
  const unreadable = letters.filter(({ isReadable }) => !isReadable)
  if (unreadable.length === 0) return
  const names = new Map(unreadable.map(({ letter, jobId }) => [letter.key, jobId]))
  // A read-only tool still lists them.
  await engine.nameJobs(names).catch(() => {})
}

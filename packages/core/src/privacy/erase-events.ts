import { ConfigurationError } from '../errors/errors.ts'
import type { Inbox } from '../inbox/inbox.ts'
import { refuseUnknownNames, show } from '../lib/check-option.ts'
import { decodeText } from '../lib/utf8.ts'
import type { Logger } from '../observe/logger.ts'
import type { Observation } from '../observe/observation.ts'
import { inspectReceiver } from '../receiver/inspect.ts'
import type { Receiver } from '../receiver/receiver.ts'

/**
 * Which events: by the values at paths of their JSON, such as `{ 'data.contact_id': 'ct_1' }`, all of which must be equal as
 * texts; an array has a value if one of its items has. Or a function of the event as it was sent.
 */
export type EraseWhere =
  | { readonly [path: string]: string | number | boolean }
  | ((event: Readonly<Record<string, unknown>>, context: { readonly namespace: string }) => boolean)

/** Options of {@link eraseEvents}. */
export interface EraseOptions {
  readonly where: EraseWhere
  /** Only events of this namespace. Absent: of all namespaces. */
  readonly namespace?: string | undefined
  /** Counts the events, and deletes none. Default `false`. */
  readonly dryRun?: boolean | undefined
  /** Ends the scan early. */
  readonly signal?: AbortSignal | undefined
}

/** What {@link eraseEvents} has found. With `dryRun`, nothing of it was deleted. */
export interface Erased {
  /** Events that were looked at. */
  readonly scanned: number
  /** Dead letters that were deleted. */
  readonly dead: number
  /** Events that waited for an attempt, and were deleted. */
  readonly waiting: number
  /** Matching events whose handlers ran. They were not deleted: repeat the call once they have ended. */
  readonly running: number
  /** Events that could not be read, such as sealed ones without their key. Whether they match is unknown. */
  readonly unreadable: number
}

/** How often an event that changes its state between two steps is looked up again. */
const TRIES = 3

/**
 * Deletes the dead letters and waiting events that match, for an erasure request. They were acknowledged, and will not be
 * handled: with a receiver, that is logged and observed. Reads every stored event; running ones stay. Also takes an inbox alone, for tools.
 *
 * Throws `ConfigurationError` for a wrong option, or an inbox that cannot erase.
 *
 * @example
 * const { dead, waiting, running } = await eraseEvents(receiver, { where: { 'data.contact_id': 'ct_1' } })
 */
export async function eraseEvents(
  from: Pick<Receiver<never, never>, 'deadLetters'> | Inbox,
  options: EraseOptions,
): Promise<Erased> {
  refuseUnknownNames(
    options,
    ['where', 'namespace', 'dryRun', 'signal'],
    '',
    "{ where: { 'data.contact_id': 'ct_1' } }",
  )
  const { inbox, tell } = partsOf(from)
  const { erasure } = inbox
  if (erasure === undefined || inbox.lookup === undefined)
    throw new ConfigurationError('inbox', `cannot erase events: ${inbox.cannotErase ?? NO_ERASURE}`)
  const erasing = new Erasing(inbox, matcherOf(options), options)
  try {
    for await (const keys of erasure.scan()) {
      for (const key of keys) {
        options.signal?.throwIfAborted()
        await erasing.look(key)
      }
    }
  } finally {
    // Also what was deleted before a failure.
    if (options.dryRun !== true) tell?.(erasing.counts)
  }
  return erasing.counts
}

const NO_ERASURE = 'sqliteInbox and bullmqInbox can; what others store is deleted with their own tools'

class Erasing {
  readonly counts = { scanned: 0, dead: 0, waiting: 0, running: 0, unreadable: 0 }
  readonly #inbox: Inbox
  readonly #matches: Matcher
  readonly #isDry: boolean
  readonly #namespace: string | undefined

  constructor(inbox: Inbox, matches: Matcher, { dryRun = false, namespace }: EraseOptions) {
    this.#inbox = inbox
    this.#matches = matches
    this.#isDry = dryRun
    this.#namespace = namespace
  }

  async look(key: string): Promise<void> {
    this.counts.scanned++
    for (let tries = 0; tries < TRIES; tries++) if (await this.#erase(key)) return
    // It changes its state all the time: it runs.
    this.counts.running++
  }

  /** Returns `false` if the event changed its state between the lookup and the deletion. */
  async #erase(key: string): Promise<boolean> {
    const { counts } = this
    const found = await this.#inbox.lookup?.(key)
    if (found === undefined || found.state === 'handled' || found.state === 'unknown') return true
    const { state, event } = found
    if (event !== undefined && this.#namespace !== undefined && event.namespace !== this.#namespace)
      return true
    const json = parse(event?.body)
    if (event === undefined || json === undefined) {
      counts.unreadable++
      return true
    }
    if (!this.#matches(json, { namespace: event.namespace })) return true
    const counted = state === 'dead' ? 'dead' : state === 'active' ? 'running' : 'waiting'
    if (counted !== 'running' && !this.#isDry && !(await this.#delete(counted, key))) return false
    counts[counted]++
    return true
  }

  async #delete(what: 'dead' | 'waiting', key: string): Promise<boolean> {
    const { deadLetters, erasure } = this.#inbox
    return (await (what === 'dead' ? deadLetters.discard(key) : erasure?.eraseWaiting(key))) === true
  }
}

type Tell = (counts: Erased) => void

function partsOf(from: Pick<Receiver<never, never>, 'deadLetters'> | Inbox): {
  readonly inbox: Inbox
  readonly tell: Tell | undefined
} {
  if ('accept' in from) return { inbox: from, tell: undefined }
  const { inbox, logger, observe } = inspectReceiver(from)
  return { inbox, tell: counts => tellOf(counts, logger, observe) }
}

function tellOf(
  { dead, waiting, running }: Erased,
  logger: Logger,
  observe: (observation: Observation) => void,
): void {
  if (dead + waiting === 0) return
  observe({ kind: 'dropped', cause: 'erasure', dead, waiting })
  logger.warn(
    { code: 'events_erased', dead, waiting, running },
    `${dead} dead letters and ${waiting} waiting events were erased: they were acknowledged, and will not be handled.`,
  )
}

type Matcher = (event: Readonly<Record<string, unknown>>, context: { readonly namespace: string }) => boolean

function matcherOf({ where }: EraseOptions): Matcher {
  if (typeof where === 'function') return (event, context) => where(event, context) === true
  const wanted = typeof where === 'object' && where !== null ? Object.entries(where) : []
  // Without a path everything would match.
  if (wanted.length === 0)
    throw new ConfigurationError(
      'where',
      `must be a function, or values by path such as { 'data.contact_id': 'ct_1' }; got ${show(where)}`,
    )
  for (const [path, value] of wanted)
    if (path === '' || !['string', 'number', 'boolean'].includes(typeof value))
      throw new ConfigurationError(
        'where',
        `must have a text, number or boolean for each path; got ${show(value)} for '${path}'`,
      )
  return event => wanted.every(([path, value]) => has(event, path.split('.'), String(value)))
}

function has(value: unknown, path: readonly string[], wanted: string): boolean {
  if (Array.isArray(value)) return value.some(item => has(item, path, wanted))
  const [name, ...rest] = path
  if (name === undefined) return value !== null && typeof value !== 'object' && String(value) === wanted
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? has((value as Record<string, unknown>)[name], rest, wanted)
    : false
}

function parse(body: Uint8Array | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const json: unknown = JSON.parse(decodeText(body ?? new Uint8Array()))
    return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

import { platform } from '#platform'
import { ConfigurationError, describeError } from '../errors/errors.ts'
import type { BrowsedEvent, EventLookup } from '../inbox/browse.ts'
import type { Delivery } from '../inbox/delivery.ts'
import type {
  AttemptResult,
  DeadLetter,
  DeadLetterGroup,
  DeadLetterStore,
  Inbox,
  InboxStats,
  ProcessEvent,
  ProcessingPolicy,
} from '../inbox/inbox.ts'
import { parseReason } from '../inbox/sealed.ts'
import { refuseUnknownNames } from '../lib/check-option.ts'
import { onceAMinute } from '../lib/once-a-minute.ts'
import { Sealer, type SealOptions } from './sealer.ts'

/** An event that cannot be opened waits this long, and up to twice as long, for the right key. */
const CLOSED_MS = 60_000
/** How long its attempt keeps its slot, so that a million such events do not busy the store. */
const HELD_MS = 50
const MAX_GROUPS = 1000

/**
 * Wraps a durable inbox so that it stores no body and no error in the clear, and only hashes of ordering keys. Ids, types,
 * namespaces, times and trace contexts stay readable. An event that `open` cannot read waits, and counts no attempt.
 *
 * Throws `ConfigurationError` for an inbox that cannot be wrapped; `start` rejects if `open` does not read what `seal`
 * wrote.
 *
 * @example
 * const inbox = sealedInbox(sqliteInbox('webhooks.db'), { seal, open })
 */
export function sealedInbox(inbox: Inbox, options: SealOptions): Inbox {
  checkInbox(inbox)
  refuseUnknownNames(options, ['seal', 'open'], '', '{ seal, open }')
  const sealed = new SealedInbox(inbox, new Sealer(options))
  const { lookup, browse } = inbox
  return {
    ...inbox,
    accept: delivery => sealed.accept(delivery),
    start: (work, policy) => sealed.start(work, policy),
    stats: () => sealed.stats(),
    deadLetters: sealed.deadLetters,
    ...(lookup !== undefined && { lookup: async key => sealed.openLookup(await lookup.call(inbox, key)) }),
    ...(browse !== undefined && {
      browse: async query =>
        Promise.all((await browse.call(inbox, query)).map(event => sealed.openEvent(event))),
    }),
  }
}

function checkInbox(inbox: Inbox): void {
  if (typeof inbox?.accept !== 'function')
    throw new ConfigurationError('inbox', "must be an inbox such as sqliteInbox('webhooks.db')")
  if (inbox.durable !== true)
    throw new ConfigurationError(
      'inbox',
      'it stores nothing outside of this process: there is nothing to seal',
    )
  if ('consume' in inbox)
    throw new ConfigurationError(
      'inbox',
      "its engine is a queue that passes messages on as they are: use the queue's own encryption, or sqliteInbox or bullmqInbox",
    )
}

interface Unopened {
  readonly delivery: Delivery
  readonly error: unknown
}

class SealedInbox {
  readonly deadLetters: DeadLetterStore
  readonly #inbox: Inbox
  readonly #sealer: Sealer
  /** What this process has accepted, by what it has passed on: no opening is needed. */
  readonly #accepted = new WeakMap<Delivery, Delivery>()

  constructor(inbox: Inbox, sealer: Sealer) {
    this.#inbox = inbox
    this.#sealer = sealer
    this.deadLetters = this.#openLetters(inbox.deadLetters)
  }

  async accept(delivery: Delivery): Promise<Awaited<ReturnType<Inbox['accept']>>> {
    let sealed: Delivery
    try {
      sealed = await this.#seal(delivery)
    } catch (cause) {
      // Nothing is stored, so the sender keeps the event.
      return { outcome: 'unavailable', code: 'inbox_unavailable', cause }
    }
    this.#accepted.set(sealed, delivery)
    return this.#inbox.accept(sealed)
  }

  async #seal(delivery: Delivery): Promise<Delivery> {
    const { order, group, type, namespace } = delivery
    const hash = async (text: string): Promise<string> => platform.hashText(text)
    return {
      ...delivery,
      body: await this.#sealer.sealBody(delivery.body, delivery),
      ...(order && { order: { ...order, key: await hash(order.key) } }),
      // Types and namespaces are stored anyway.
      ...(group !== undefined &&
        group !== '' &&
        group !== type &&
        group !== namespace && { group: await hash(group) }),
    }
  }

  async start(work: ProcessEvent, policy: ProcessingPolicy): Promise<void> {
    await this.#sealer.check()
    const { logger, observe } = policy
    const report = onceAMinute(({ delivery, error }: Unopened, more) => {
      const message = `An event cannot be opened${more}: ${describeError(error)}. It stays in the inbox, and is tried again in a minute or two. Give 'open' the key with which it was sealed.`
      logger.error({ code: 'open_failed', event: delivery.id, type: delivery.type, err: error }, message)
      observe({ kind: 'notice', code: 'open_failed', message })
    })
    const run: ProcessEvent = async (delivery, attempt, limit) => {
      let opened: Delivery
      try {
        opened = this.#accepted.get(delivery) ?? (await this.#open(delivery))
      } catch (error) {
        report('', { delivery, error })
        await new Promise(resolve => setTimeout(resolve, HELD_MS))
        const delayMs = Math.round(CLOSED_MS * (1 + Math.random()))
        return { outcome: 'postponed', delayMs, routingToken: attempt.routingToken }
      }
      // Withdrawn while it was being opened: no handler begins.
      const { abortReason } = attempt
      if (abortReason !== undefined) return { outcome: 'retry', delayMs: 0, error: abortReason }
      return this.#sealResult(await work(opened, attempt, limit), delivery)
    }
    await this.#inbox.start(run, policy)
  }

  async #open(delivery: Delivery): Promise<Delivery> {
    return { ...delivery, body: await this.#sealer.openBody(delivery.body, delivery) }
  }

  async #sealResult(result: AttemptResult, { id, type, namespace }: Delivery): Promise<AttemptResult> {
    if (result.outcome !== 'retry' && result.outcome !== 'dead') return result
    const letter = { id, type, reason: describeError(result.error) }
    return { ...result, error: await this.#sealer.sealError(letter, { namespace }) }
  }

  async stats(): Promise<InboxStats> {
    const stats = await this.#inbox.stats()
    const isSealed = stats.waitingError !== undefined && parseReason(stats.waitingError) !== undefined
    return isSealed ? { ...stats, waitingError: 'a sealed error' } : stats
  }

  #openLetters(letters: DeadLetterStore): DeadLetterStore {
    return {
      ...letters,
      list: async (options = {}) => {
        const group = options.group === undefined ? undefined : await this.#storedGroup(options.group)
        const page = await letters.list({ ...options, group })
        return Promise.all(page.map(letter => this.#openLetter(letter)))
      },
      get: async key => {
        const letter = await letters.get(key)
        return letter && this.#openLetter(letter)
      },
      ...(letters.groups !== undefined && {
        groups: async options => {
          const found = (await letters.groups?.(options)) ?? { groups: [], counted: 0 }
          return { ...found, groups: await Promise.all(found.groups.map(group => this.#openGroup(group))) }
        },
      }),
    }
  }

  /** The inbox has grouped letters by their sealed errors: each such group is one of the errors themselves. */
  async #storedGroup(group: string): Promise<string> {
    const found = await this.#inbox.deadLetters.groups?.({ limit: MAX_GROUPS })
    const stored = found?.groups.find(({ sample }) => parseReason(sample.reason)?.group === group)
    return stored?.group ?? group
  }

  async #openGroup(group: DeadLetterGroup): Promise<DeadLetterGroup> {
    const { sample } = group
    const own = parseReason(sample.reason)?.group
    const reason = await this.#sealer.openReason(sample.reason, sample)
    return { ...group, ...(own !== undefined && { group: own }), sample: { ...sample, reason } }
  }

  async #openLetter(letter: DeadLetter): Promise<DeadLetter> {
    const group = parseReason(letter.reason)?.group
    const opened = await this.openEvent(letter)
    return group === undefined ? opened : { ...opened, group }
  }

  async openLookup(found: EventLookup): Promise<EventLookup> {
    return 'event' in found && found.event !== undefined
      ? { ...found, event: await this.openEvent(found.event) }
      : found
  }

  /** What cannot be opened stays as it is stored, so that a tool can still list, redrive and discard it. */
  async openEvent<Listed extends BrowsedEvent>(event: Listed): Promise<Listed> {
    const { body, reason } = event
    return {
      ...event,
      ...(body !== undefined && { body: await this.#sealer.openBody(body, event).catch(() => body) }),
      ...(reason !== undefined && { reason: await this.#sealer.openReason(reason, event) }),
    }
  }
}

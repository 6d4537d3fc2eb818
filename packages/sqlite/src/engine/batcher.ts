import type { Delivery } from '@ackhook/core'
import type { Acceptance } from '@ackhook/core/spi'
import type { Admission, Answer, BatchResult, Lease, Query, Settlement, TakenRow } from '../protocol.ts'
import type { Fault } from '../storage/fault.ts'
import type { Engine } from './engine.ts'
import { createArriving } from './in-flight.ts'
import { pack } from './pack.ts'

export interface BatcherParts {
  readonly engine: Engine
  readonly toError: (fault: Fault) => Error
  /** How many rows may be handed out now, beyond those `requested` before. */
  readonly slots: (requested: number) => number
  /** `delivery` is there when the row arrived here just now. */
  readonly onTaken: (row: TakenRow, delivery: Delivery | undefined) => void
  /** After every message that asked for rows. `error`: why none could be handed out, unless a sender is told of it. */
  readonly onAsked: (error?: Error) => void
  /** After every message. `nextDueMs`: when there is something to hand out, as far as known. */
  readonly onAnswered: (nextDueMs: number | undefined) => void
}

/** Gathers what one turn of the event loop wants from the storage into one message. */
export interface Batcher {
  accept(delivery: Delivery): Promise<Acceptance>
  /** Whether the lease was still held. Rejects when nothing was recorded. */
  settle(settlement: Settlement): Promise<boolean>
  /** Whether the lease is still held, and is to be renewed from now on. Rejects when that is not known. */
  check(lease: Lease): Promise<boolean>
  ask(query: Query): Promise<unknown>
  /** Asks for rows, as many as there are slots. */
  wake(): void
  /** Does now what waits for company. */
  hurry(): void
  /** Whether something was sent or is to be sent and has no answer yet. */
  isBusy(): boolean
}

interface Pending<T, Answer> {
  readonly value: T
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/** Everything one message is made of. */
interface Round {
  readonly arrivals: Pending<Delivery, Acceptance>[]
  readonly settlements: Pending<Settlement, boolean>[]
  readonly checks: Pending<Lease, boolean>[]
  readonly queries: Pending<Query, unknown>[]
}

const ANSWERS: Readonly<Record<Extract<Admission, string>, Acceptance>> = {
  accepted: { outcome: 'accepted' },
  duplicate: { outcome: 'duplicate' },
  conflict: { outcome: 'duplicate', conflict: true },
  full: { outcome: 'full' },
}

/** The sender waits no longer than this. What is written later all the same makes its retry a duplicate. */
const DEADLINE_MS = 2000
/**
 * How many deliveries may ask the file at one time while it is full, because one of an event that is safe already is to
 * be told so. The others are refused here: what is refused must cost less than what is taken in.
 */
const ASKED_WHEN_FULL = 64
/** How long a settlement waits for an arrival to share the disk with, while nothing waits for its slot. */
const LAZY_MS = 3
/** A crash repeats what is settled and not recorded, so that is kept few. */
const LAZY_LIMIT = 8

export function createBatcher(parts: BatcherParts): Batcher {
  const { engine, toError, slots, onTaken, onAsked, onAnswered } = parts
  const arriving = createArriving()
  let round = emptyRound()
  let scheduled = false
  let lazyTimer: ReturnType<typeof setTimeout> | undefined
  /** Whether the last answer left rows that are due. */
  let backlog = true
  let requested = 0
  let underWay = 0
  /** Deliveries without an answer. */
  let unanswered = 0
  /** Whether the last deliveries that were answered met a full file. */
  let isFull = false
  /** Messages without an answer for longer than the deadline: the disk stands still. */
  let overdue = 0

  /** At the end of this turn: what arrives in it shares a message, and nothing waits for a timer. */
  function schedule(): void {
    if (scheduled) return
    scheduled = true
    clearTimeout(lazyTimer)
    lazyTimer = undefined
    setImmediate(() => {
      scheduled = false
      const sent = round
      round = emptyRound()
      void send(sent)
    })
  }

  /** For what nobody waits for: it rides along with the next arrival instead of making that wait for the disk. */
  function scheduleLazily(): void {
    if (backlog || round.settlements.length >= LAZY_LIMIT) schedule()
    else if (!scheduled) lazyTimer ??= setTimeout(schedule, LAZY_MS)
  }

  async function send(sent: Round): Promise<void> {
    const deliveries = sent.arrivals.map(payload)
    const firstRef = arriving.add(deliveries)
    const take = Math.max(0, slots(requested))
    requested += take
    underWay++
    const deadline = watch(sent)
    let nextDueMs: number | undefined
    try {
      const { arrivals, bytes } = pack(firstRef, deliveries)
      const result = await engine.run({
        arrivals,
        bytes,
        settlements: sent.settlements.map(payload),
        held: sent.checks.map(payload),
        queries: sent.queries.map(payload),
        take,
      })
      answer(sent, result)
      nextDueMs = result.nextDueMs
      if (take > 0) heed(sent, result.taken, take)
    } catch (error) {
      for (const one of sent.arrivals) one.resolve(unavailable(error))
      for (const one of [...sent.settlements, ...sent.checks, ...sent.queries]) one.reject(error)
      if (take > 0 && sent.arrivals.length === 0) onAsked(error as Error)
    } finally {
      deadline.stop()
      requested -= take
      underWay--
      unanswered -= sent.arrivals.length
    }
    onAnswered(nextDueMs)
    // Not before the next turn: the answers that came with this one may hand out what this one brought.
    setImmediate(arriving.remove, firstRef)
  }

  function watch(sent: Round): { stop(): void } {
    if (sent.arrivals.length === 0) return { stop() {} }
    let late = false
    const timer = setTimeout(() => {
      late = true
      overdue++
      for (const one of sent.arrivals) one.resolve(unavailable(new Error(TOO_SLOW)))
    }, DEADLINE_MS)
    return {
      stop() {
        clearTimeout(timer)
        if (late) overdue--
      },
    }
  }

  function answer(sent: Round, result: BatchResult): void {
    answerAll(sent.settlements, result.settled)
    answerAll(sent.checks, result.stillHeld)
    for (const [index, one] of sent.queries.entries()) answerQuery(one, result.answers, index)
    const { admissions } = result
    if (sent.arrivals.length > 0 && !('kind' in admissions)) isFull = admissions.includes('full')
    for (const [index, one] of sent.arrivals.entries()) one.resolve(acceptanceOf(admissions, index))
    if ('kind' in result.taken) return
    for (const row of result.taken) {
      onTaken(row, row.ref === undefined ? undefined : arriving.get(row.ref))
    }
  }

  function heed(sent: Round, taken: BatchResult['taken'], take: number): void {
    if (!('kind' in taken)) {
      backlog = taken.length === take
      onAsked()
      return
    }
    backlog = false
    if (sent.arrivals.length === 0) onAsked(toError(taken))
  }

  function acceptanceOf(admissions: readonly Admission[] | Fault, index: number): Acceptance {
    if ('kind' in admissions) return unavailable(toError(admissions))
    const admission = admissions[index]
    if (typeof admission === 'string') return ANSWERS[admission]
    return unavailable(new Error(admission?.refused ?? UNANSWERED))
  }

  function answerQuery(
    one: Pending<Query, unknown>,
    answers: readonly Answer[] | Fault,
    index: number,
  ): void {
    const answer = 'kind' in answers ? answers : answers[index]
    if (answer === undefined) one.reject(new Error(UNANSWERED))
    else if ('kind' in answer) one.reject(toError(answer))
    else one.resolve(answer.value)
  }

  function answerAll<T, Answer>(
    waiting: readonly Pending<T, Answer>[],
    answers: readonly unknown[] | Fault,
  ): void {
    for (const [index, one] of waiting.entries()) {
      if ('kind' in answers) one.reject(toError(answers))
      else one.resolve(answers[index] as Answer)
    }
  }

  function enqueue<T, Answer>(
    queue: Pending<T, Answer>[],
    value: T,
    soon: () => void = schedule,
  ): Promise<Answer> {
    soon()
    return new Promise((resolve, reject) => queue.push({ value, resolve, reject }))
  }

  return {
    accept(delivery) {
      if (overdue > 0) return Promise.resolve(unavailable(new Error(TOO_SLOW)))
      if (isFull && unanswered >= ASKED_WHEN_FULL) return Promise.resolve(ANSWERS.full)
      unanswered++
      return enqueue(round.arrivals, delivery)
    },
    settle: settlement => enqueue(round.settlements, settlement, scheduleLazily),
    check: lease => enqueue(round.checks, lease),
    ask: query => enqueue(round.queries, query),
    wake: scheduleLazily,
    hurry: schedule,
    isBusy: () => scheduled || lazyTimer !== undefined || underWay > 0,
  }
}

const UNANSWERED = 'the storage answered nothing'
const TOO_SLOW = `SQLite has not answered for ${DEADLINE_MS} ms`

function unavailable(cause: unknown): Acceptance {
  return { outcome: 'unavailable', code: 'inbox_unavailable', cause }
}

function emptyRound(): Round {
  return { arrivals: [], settlements: [], checks: [], queries: [] }
}

function payload<T>({ value }: { readonly value: T }): T {
  return value
}

import { ConfigurationError } from '../errors/errors.ts'
import { show } from '../lib/check-option.ts'
import type { MaybePromise } from '../lib/maybe-promise.ts'
import { shellWord } from '../lib/shell-word.ts'
import type { Logger } from '../observe/logger.ts'
import type { Observation } from '../observe/observation.ts'
import { NOT_KEPT } from './delivery.ts'

/** A pause of the handling of events. */
export interface PausedHandling {
  /** The one type whose events wait. Absent: those of every type. */
  readonly type?: string
  /** Time of the pause, in milliseconds since the epoch. */
  readonly since: number
}

/**
 * Pauses the handling of events, in every process that shares the inbox. Events are accepted all the same. While a type
 * is paused, no attempt at its events begins: not the first, and no retry. Attempts that have begun end as ever. A
 * durable inbox keeps a pause over restarts. Each change takes effect as a whole or not at all, even if the process dies
 * in the middle of it; what another process completes for it may take seconds.
 */
export interface HandlingControl {
  /** Reason why single types cannot be paused, only all of them. `pause` then refuses a type with these words. */
  readonly cannotPauseTypes?: string
  /** Pauses one exact type, or all. `false` if that is paused already, and in memory during the drain. Throws `ConfigurationError` for what it cannot. */
  pause(type?: string): MaybePromise<boolean>
  /**
   * Ends the pause of one type; without a type every pause, those of single types too. While all are paused, a type that
   * is resumed waits on. `false` if nothing was paused.
   */
  resume(type?: string): MaybePromise<boolean>
  /** The pauses in force: the one of all types first, then types in alphabetical order. */
  paused(): MaybePromise<readonly PausedHandling[]>
}

/**
 * How the slots of a process are shared among groups of events. A {@link Delivery} carries its group; an inbox stores it
 * with the event. Of one group, at most `limit` events run in a process at a time, and slots go to the groups with
 * waiting events in turn.
 */
export interface Groups {
  /** What a group is, for events that an inbox has stored without one. */
  readonly by: 'type' | 'namespace' | 'function'
  readonly limit: number
}

/** Returns pauses in the order of {@link HandlingControl.paused}. */
export function sortedPauses(paused: readonly PausedHandling[]): readonly PausedHandling[] {
  return [...paused].sort((one, other) => {
    const [a, b] = [one.type ?? '', other.type ?? '']
    if (a === b) return Number(other.type === undefined) - Number(one.type === undefined)
    return a < b ? -1 : 1
  })
}

/** Checks the argument of {@link HandlingControl.pause}. Throws `ConfigurationError` unless it is one type, or absent. */
export function pausedType(type: unknown): string | undefined {
  if (type === undefined) return type
  if (typeof type === 'string' && type !== '' && !type.includes('*') && type.search(NOT_KEPT) < 0) return type
  throw new ConfigurationError(
    'type',
    `must be one exact type such as 'conversation.resolved', or left out for all of them; got ${show(type)}`,
  )
}

/** Where a {@link PauseLog} reports pauses, and the command that ends one. */
export interface PauseLogParts {
  readonly logger: Logger
  readonly observe: (observation: Observation) => void
  /** What ends a pause, for the log. Default: the command `ackhook inbox resume`. */
  readonly resumeBy?: (type: string | undefined) => string
}

/** Logs and observes each pause, and its end, once in each process. */
export class PauseLog {
  readonly #parts: PauseLogParts
  /** Pauses already told, by type. */
  readonly #told = new Map<string | undefined, PausedHandling>()

  constructor(parts: PauseLogParts) {
    this.#parts = parts
  }

  /** Called with all the pauses in force, as often as an inbox reads them. */
  see(paused: readonly PausedHandling[]): void {
    const now = new Map(paused.map(one => [one.type, one]))
    for (const [type, one] of now) if (!this.#told.has(type)) this.#tellPause(one)
    for (const type of this.#told.keys()) if (!now.has(type)) this.#tellResume(type)
  }

  #tellPause(one: PausedHandling): void {
    const { type, since } = one
    this.#told.set(type, one)
    const what = type === undefined ? 'all events' : `'${type}' events`
    const { resumeBy = commandFor } = this.#parts
    const message = `Handling of ${what} has been paused since ${new Date(since).toISOString()}: they are accepted, and wait. '${resumeBy(type)}' ends the pause.`
    this.#parts.observe({ kind: 'notice', code: 'handling_paused', message })
    this.#parts.logger.warn({ code: 'handling_paused', type, since }, message)
  }

  #tellResume(type: string | undefined): void {
    this.#told.delete(type)
    const message = `Handling of ${type === undefined ? 'events' : `'${type}' events`} was resumed.`
    this.#parts.observe({ kind: 'notice', code: 'handling_resumed', message })
    this.#parts.logger.info({ code: 'handling_resumed', type }, message)
  }
}

function commandFor(type: string | undefined): string {
  return `ackhook inbox resume ${type === undefined ? '--all' : shellWord(type)}`
}

import { ConfigurationError, type Duration } from '@ackhook/core'
import { durationMs, refuseUnknownNames, wholeNumber } from '@ackhook/core/spi'

/** Probability of a fault: never, always, or a chance from 0 to 1. */
export type Chance = boolean | number

/** Faults that happen in production. Each one is drawn from the seed. Default: none. */
export interface FaultOptions {
  /** Sends an acknowledged event once more. Drawn for each event. */
  readonly duplicate?: Chance | undefined
  /** Sends the event twice at the same moment. Drawn for each event. */
  readonly concurrentDuplicate?: Chance | undefined
  /** Lets `sendAll` send the event out of order. Drawn for each event. */
  readonly disorder?: Chance | undefined
  /** Delays the start of each attempt by a random time up to this duration. */
  readonly delay?: Duration | undefined
  /** Changes one byte of the body after signing. Drawn for each attempt. */
  readonly tamper?: Chance | undefined
  /** Gives the attempt a correctly signed timestamp that is `staleBy` old. Drawn for each attempt. */
  readonly staleTimestamp?: Chance | undefined
  /** Age of a stale timestamp. Default `'10m'`. */
  readonly staleBy?: Duration | undefined
  /** Retries with the first attempt's timestamp. Whether the platform does so is not published. */
  readonly frozenTimestamp?: boolean | undefined
  /** Loses the reply: the receiver has the event, and the sender sends it again. */
  readonly lostReply?: Chance | undefined
  /**
   * Replies in place of the app, which is not called: a status, no reply within the timeout, or a closed connection.
   */
  readonly answer?: number | 'timeout' | 'reset' | undefined
  /** Chance of that reply. Default: always. Drawn for each attempt. */
  readonly answerChance?: Chance | undefined
  /** Number of attempts that `answer` affects. Default: all attempts. */
  readonly answerNext?: number | undefined
  /** Replaces the endpoint's secret during the run. */
  readonly rotation?: {
    readonly secret: string
    /** Requests signed only with the old secret. */
    readonly after: number
    /**
     * Requests after those that are signed with both secrets. Whether the platform does so is not published. Default 0.
     */
    readonly overlap?: number
  }
}

/** {@link FaultOptions} with every default filled in: chances as numbers, durations in milliseconds. */
export interface Faults {
  readonly duplicate: number
  readonly concurrentDuplicate: number
  readonly disorder: number
  readonly delayMs: number
  readonly tamper: number
  readonly staleTimestamp: number
  readonly staleByMs: number
  readonly frozenTimestamp: boolean
  readonly lostReply: number
  readonly answer: number | 'timeout' | 'reset' | undefined
  readonly answerChance: number
  readonly answerNext: number
  readonly rotation: { readonly secret: string; readonly after: number; readonly overlap: number } | undefined
}

const DAY_MS = 86_400_000
/** Largest count that an option accepts. */
export const MAX_COUNT = 1_000_000

const NAMES = [
  'duplicate',
  'concurrentDuplicate',
  'disorder',
  'delay',
  'tamper',
  'staleTimestamp',
  'staleBy',
  'frozenTimestamp',
  'lostReply',
  'answer',
  'answerChance',
  'answerNext',
  'rotation',
] as const satisfies readonly (keyof FaultOptions)[]

/** Throws `ConfigurationError` for a wrong chance or duration, and for an unknown fault. */
export function resolveFaults(options: FaultOptions): Faults {
  refuseUnknownNames(options, NAMES, 'faults')
  return {
    duplicate: chanceOf('duplicate', options.duplicate),
    concurrentDuplicate: chanceOf('concurrentDuplicate', options.concurrentDuplicate),
    disorder: chanceOf('disorder', options.disorder),
    delayMs: durationMs(options.delay ?? '0ms', { option: 'faults.delay', minMs: 0, maxMs: DAY_MS }),
    tamper: chanceOf('tamper', options.tamper),
    staleTimestamp: chanceOf('staleTimestamp', options.staleTimestamp),
    staleByMs: durationMs(options.staleBy ?? '10m', {
      option: 'faults.staleBy',
      minMs: 1,
      maxMs: 365 * DAY_MS,
    }),
    frozenTimestamp: options.frozenTimestamp ?? false,
    lostReply: chanceOf('lostReply', options.lostReply),
    ...answerOf(options),
    rotation: options.rotation && rotationOf(options.rotation),
  }
}

function chanceOf(name: keyof FaultOptions, chance: Chance = 0): number {
  const value = Number(chance)
  if (value >= 0 && value <= 1) return value
  throw new ConfigurationError(
    `faults.${name}`,
    `must be true, false or a chance from 0 to 1; got ${String(chance)}`,
  )
}

function answerOf({
  answer,
  answerChance,
  answerNext,
}: FaultOptions): Pick<Faults, 'answer' | 'answerChance' | 'answerNext'> {
  if (answer === undefined && (answerChance ?? answerNext) !== undefined) {
    throw new ConfigurationError('faults.answer', "is missing: 503, 'timeout' or 'reset', for example")
  }
  const isStatus = typeof answer === 'number' && Number.isInteger(answer) && answer >= 200 && answer <= 599
  if (answer !== undefined && !isStatus && answer !== 'timeout' && answer !== 'reset') {
    throw new ConfigurationError(
      'faults.answer',
      `must be a status from 200 to 599, 'timeout' or 'reset'; got ${String(answer)}`,
    )
  }
  return {
    answer,
    answerChance: chanceOf('answerChance', answerChance ?? true),
    answerNext:
      answerNext === undefined
        ? Number.POSITIVE_INFINITY
        : wholeNumber('faults.answerNext', answerNext, 1, MAX_COUNT),
  }
}

function rotationOf(rotation: NonNullable<FaultOptions['rotation']>): NonNullable<Faults['rotation']> {
  refuseUnknownNames(rotation, ['secret', 'after', 'overlap'], 'faults.rotation')
  const { secret, after, overlap = 0 } = rotation
  if (typeof secret !== 'string' || secret === '') {
    throw new ConfigurationError('faults.rotation.secret', 'must be the secret that replaces the old one')
  }
  return {
    secret,
    after: wholeNumber('faults.rotation.after', after, 0, MAX_COUNT),
    overlap: wholeNumber('faults.rotation.overlap', overlap, 0, MAX_COUNT),
  }
}

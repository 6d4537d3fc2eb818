import type { Duration } from '@ackhook/core'
import type { Chance, FaultOptions } from '@ackhook/testing'
import {
  choiceField,
  durationField,
  type Field,
  flagField,
  type Maybe,
  otherField,
  type TableOf,
} from './field.ts'

/** Faults that belong together, by the situation that they make. */
export const PRESETS = {
  flaky: {
    meaning: 'Three attempts in ten get 503, and one reply in ten is lost',
    faults: { answer: 503, answerChance: 0.3, lostReply: 0.1 },
  },
  slow: {
    meaning: 'Attempts start up to 5 s late, and one reply in five comes too late',
    faults: { delay: '5s', lostReply: 0.2 },
  },
  down: { meaning: 'Every connection is closed without a reply', faults: { answer: 'reset' } },
  duplicates: {
    meaning: 'Half of the events are sent again once acknowledged, and one in five twice at once',
    faults: { duplicate: 0.5, concurrentDuplicate: 0.2 },
  },
  dark: {
    meaning: 'For ten minutes, new events are dropped: not one attempt is made, and none follows',
    faults: { dark: true, darkFor: '10m' },
  },
  disorder: {
    meaning: "Events overtake one another: a message's read comes before its delivered and its sent",
    faults: { disorder: true },
  },
} as const

/** Name of faults that belong together. */
export type FaultPreset = keyof typeof PRESETS

/**
 * The faults of {@link createSender} except `rotation`: rotate an endpoint's secret with a call. A `preset` stands for
 * the faults of a situation; those named beside it win.
 */
export type EmulatorFaults = Maybe<Omit<FaultOptions, 'rotation'>> & {
  readonly preset?: FaultPreset | undefined
  /** Drops new events: no attempt is made, now or later. `GET /events` still lists them. Drawn for each event. */
  readonly dark?: Chance | undefined
  /** How long `dark` lasts, by the emulator's clock. Default: until the faults change. */
  readonly darkFor?: Duration | undefined
}

function chanceOf(description: string): Field<Chance> {
  const schema = { anyOf: [{ type: 'boolean' }, { type: 'number', minimum: 0, maximum: 1 }], description }
  return { ...otherField(schema), sign: 'chance' }
}

/** Every fault, with what it does. `resolveFaults` of the sender checks their values. */
export const FAULTS: TableOf<EmulatorFaults, 'delay' | 'staleBy' | 'darkFor'> = {
  preset: choiceField(Object.keys(PRESETS) as FaultPreset[], 'preset'),
  duplicate: chanceOf('Sent twice'),
  concurrentDuplicate: chanceOf('Sent twice at the same moment'),
  disorder: chanceOf('Sent out of order'),
  lostReply: chanceOf('Reply lost: your app has the event'),
  tamper: chanceOf('One byte changed after signing'),
  staleTimestamp: chanceOf('Old timestamp with a valid signature'),
  staleBy: durationField('Age of an old timestamp, such as 10m'),
  delay: durationField('Delay, such as 500ms: attempts start up to this late'),
  dark: chanceOf('Dropped: no attempt is made, now or later'),
  darkFor: durationField('How long events are dropped, such as 10m'),
  frozenTimestamp: flagField('Retries keep the first timestamp'),
  answer: otherField({
    anyOf: [{ type: 'integer', minimum: 200, maximum: 599 }, { enum: ['timeout', 'reset'] }],
    description: "Replaces the app's reply: a status, no reply within the timeout, or a closed connection",
  }),
  answerChance: chanceOf('Chance of `answer` for each attempt; default 1'),
  answerNext: otherField({
    ...{ type: 'integer', minimum: 1, maximum: 1_000_000 },
    description: 'Number of attempts that get `answer`; counts down, and removes `answer` at 0',
  }),
}

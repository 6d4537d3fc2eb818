import type { Duration } from '@ackhook/core'
import { requirePattern } from '@ackhook/core/spi'
import * as v from 'valibot'
import { RATE_RULE, readRate } from '../letters/pace.ts'
import type { FieldLook } from '../protocol/verbs.ts'

/** An argument of a verb: `In` is what callers write, `Out` what the verb gets. */
export type Field<In, Out = In> = v.GenericSchema<In, Out>

/** An argument that may be left out. */
export type Optional<In, Out = In> = v.OptionalSchema<Field<In, Out>, undefined>

/** An argument that has a value if it is left out. */
export type Preset<T> = v.OptionalSchema<Field<T>, T>

/** Options of {@link text}. */
export interface TextLook extends FieldLook {
  readonly mayBeEmpty?: true
}

export function text(description: string, { mayBeEmpty, ...look }: TextLook = {}): Field<string> {
  const least = mayBeEmpty === true ? 0 : 1
  return v.pipe(
    v.string('must be text'),
    v.minLength(least, 'must not be empty'),
    v.description(description),
    v.metadata({ sign: 'text', ...look }),
  )
}

/** A list of texts, such as event ids. */
export function texts(
  description: string,
  most: number,
  look: FieldLook = {},
): Field<string[], readonly string[]> {
  const one = v.pipe(v.string('must be a list of texts'), v.nonEmpty('must not hold an empty text'))
  return v.pipe(
    v.array(one, 'must be a list of texts'),
    v.maxLength(most, `must be a list of at most ${most}`),
    v.description(description),
    v.metadata({ sign: 'text', ...look }),
  )
}

/** A whole number of at least 1. */
export function count(description: string, look: FieldLook = {}): Field<number> {
  const message = 'must be a whole number of at least 1'
  return v.pipe(
    v.number(message),
    v.integer(message),
    v.minValue(1, message),
    v.description(description),
    v.metadata({ sign: 'n', ...look }),
  )
}

/** A time in milliseconds since the epoch. */
export function instant(description: string, look: FieldLook = {}): Field<number> {
  const message = 'must be a time in milliseconds since the epoch'
  return v.pipe(
    v.number(message),
    v.integer(message),
    v.minValue(0, message),
    v.description(description),
    v.metadata(look as Record<string, unknown>),
  )
}

export function flag(description: string): Field<boolean> {
  return v.pipe(v.boolean('must be true or false'), v.description(description))
}

export function choice<const T extends string>(
  description: string,
  choices: readonly T[],
  look: FieldLook = {},
): Field<T> {
  return v.pipe(
    v.picklist(choices, `must be one of ${choices.join(', ')}`),
    v.description(description),
    v.metadata(look as Record<string, unknown>),
  )
}

/** A time span such as `30d`. */
export function duration(description: string): Field<string, Duration> {
  return v.pipe(
    v.string('must be a duration such as 500ms, 30s, 5m or 3d'),
    v.regex(/^\d+(\.\d+)?(ms|s|m|h|d)$/, 'must be a duration such as 500ms, 30s, 5m or 3d'),
    v.transform(given => given as Duration),
    v.description(description),
    v.metadata({ sign: 'duration' }),
  )
}

/** An event type, or a pattern of types as in `on`. */
export function pattern(description: string): Field<string> {
  return v.pipe(
    v.string('must be text'),
    v.rawCheck(({ dataset, addIssue }) => {
      try {
        if (dataset.typed) requirePattern('type', dataset.value)
      } catch (error) {
        addIssue({ message: (error as Error).message.replace(/^Option 'type': |\.$/g, '') })
      }
    }),
    v.description(description),
    v.metadata({ sign: 'pattern' }),
  )
}

/** A number of events per second: `50`, `0.5`, `10/s`, `600/m` or `1000/h`. */
export function rate(description: string): Field<string, number> {
  return v.pipe(
    v.string(RATE_RULE),
    v.check(given => readRate(given) !== undefined, RATE_RULE),
    v.transform(given => readRate(given) ?? 0),
    v.description(description),
    v.metadata({ sign: 'n' }),
  )
}

export function optional<In, Out>(field: Field<In, Out>): Optional<In, Out> {
  return v.optional(field)
}

export function preset<T>(field: Field<T>, value: T): Preset<T> {
  return v.optional(field, value as never) as Preset<T>
}

import { ConfigurationError, describeError } from '../errors/errors.ts'
import { nearest } from './nearest.ts'

/**
 * Throws if `options` is not an object, because every default would then silently apply, or if it has an unknown name,
 * which would be ignored. `option` names the option that holds these, if any. `example` shows an object in the error.
 * `renamed` says what to write instead of a former name.
 */
export function refuseUnknownNames(
  options: object,
  known: readonly string[],
  option = '',
  example = '',
  renamed: Readonly<Record<string, string>> = {},
): void {
  const list = known.join(', ')
  if (typeof options !== 'object' || options === null) {
    const hint = example && `, such as ${example}`
    throw new ConfigurationError(option || 'options', `must be an object with ${list}${hint}`)
  }
  const unknown = Object.keys(options).find(name => !known.includes(name))
  if (unknown === undefined) return
  if (Object.hasOwn(renamed, unknown))
    throw new ConfigurationError(unknown, `has another name now: write ${renamed[unknown]}`, {
      page: 'unknown-options',
    })
  const meant = nearest(unknown, known)
  throw new ConfigurationError(
    `${option && `${option}.`}${unknown}`,
    `is not an option${meant === undefined ? '.' : `; did you mean '${meant}'?`} The options are ${list}`,
    { page: 'unknown-options' },
  )
}

/** Throws if an option is `null`; only `undefined` means its default. */
export function refuseNull(options: object, option = ''): void {
  const name = Object.entries(options).find(([, value]) => value === null)?.[0]
  if (name === undefined) return
  throw new ConfigurationError(
    `${option && `${option}.`}${name}`,
    'is null: give it a value, or leave it out',
  )
}

/** Returns the option's value if it is one of the allowed strings. Throws {@link ConfigurationError} otherwise. */
export function oneOf<T extends string>(option: string, value: T, allowed: readonly T[]): T {
  if (allowed.includes(value)) return value
  const list = allowed.map(one => `'${one}'`).join(' or ')
  const meant = typeof value === 'string' ? nearest(value, allowed) : undefined
  const hint = meant === undefined ? '' : ` (did you mean '${meant}'?)`
  throw new ConfigurationError(option, `must be ${list}${hint}; got ${show(value)}`, { page: 'choices' })
}

/**
 * Returns the option's value if it is a whole number from `min` to `max`. Throws {@link ConfigurationError} otherwise.
 */
export function wholeNumber(option: string, value: number, min: number, max: number, unit = ''): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  const isText = typeof value === 'string'
  const isNumeric = isText && !Number.isNaN(Number(value))
  const fix = isNumeric ? ', not a string: convert an environment variable with Number()' : ''
  throw new ConfigurationError(
    option,
    `must be a whole number ${unit && `of ${unit} `}from ${min} to ${max}${fix}; got ${show(value)}`,
    isText ? { page: 'numbers' } : {},
  )
}

/** Formats a wrong value for a message. Quotes strings: `'16'` is not a number. */
export function show(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : describeError(value)
}

import { ConfigurationError } from '../errors/errors.ts'
import { oneOf, refuseNull, refuseUnknownNames } from '../lib/check-option.ts'
import { refuseGenerator } from '../lib/lazy-value.ts'

/** Format of `t` in the signature header. `'auto'` reads all three. */
export type TimestampUnit = 'auto' | 'seconds' | 'milliseconds' | 'iso8601'

/** Names of the envelope's fields in the body. */
export interface EnvelopeFields {
  readonly id: string
  readonly type: string
  readonly created_at: string
  readonly data: string
}

/**
 * Provisional parts of the platform's interface, in one place. Defaults follow the current interface specification; if
 * it is silent (the unit of `t`), the default accepts every plausible form.
 */
export interface Contract {
  /** Name of the signature header. Default `X-Service-Signature`. */
  readonly header: string
  /** Label of the signature scheme in that header. Default `v1`. */
  readonly scheme: string
  /** Unit of `t`; not published. Default `'auto'`: ten digits are seconds, thirteen milliseconds, or ISO 8601 UTC. */
  readonly timestampUnit: TimestampUnit
  /** Names of the envelope's fields. Default `id`, `type`, `created_at`, `data`. */
  readonly fields: EnvelopeFields
  /**
   * Converts an older or newer shape of an event into the one your handlers expect. Runs before schemas, and again at
   * each attempt if only bytes were kept, so it must be pure. If it throws, the reply is 422 and the sender keeps the
   * event.
   */
  readonly upcast?: (event: UncheckedEvent) => UncheckedEvent
}

/** An event with a checked envelope and unchecked data. */
export interface UncheckedEvent {
  readonly id: string
  readonly type: string
  readonly created_at: string
  readonly data: Record<string, unknown>
  readonly [field: string]: unknown
}

/** Overrides of the {@link Contract}; omitted fields keep their defaults. */
export type ContractOptions = {
  readonly [Name in keyof Omit<Contract, 'fields'>]?: Contract[Name] | undefined
} & {
  readonly fields?: { readonly [Field in keyof EnvelopeFields]?: string | undefined } | undefined
}

/** Published field names. With these the event is the parsed object itself, not a copy. */
export const PUBLISHED_FIELDS: EnvelopeFields = {
  id: 'id',
  type: 'type',
  created_at: 'created_at',
  data: 'data',
}
const NAMES: readonly string[] = ['header', 'scheme', 'timestampUnit', 'fields', 'upcast']
const UNITS: readonly TimestampUnit[] = ['auto', 'seconds', 'milliseconds', 'iso8601']
const HTTP_TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Excludes `t`, which is the timestamp's label. */
const LABEL = /^(?!t$)[A-Za-z0-9_-]+$/

/**
 * Merges a user's overrides into the default contract. Throws {@link ConfigurationError} with `prefix` before the
 * option's name.
 */
export function resolveContract(options: ContractOptions = {}, prefix = 'contract.'): Contract {
  refuseUnknownNames(options, NAMES, 'contract')
  refuseNull(options, 'contract')
  refuseUnknownNames(options.fields ?? {}, Object.keys(PUBLISHED_FIELDS), `${prefix}fields`)
  const contract = {
    header: textOf(
      `${prefix}header`,
      options.header ?? 'X-Service-Signature',
      HTTP_TOKEN,
      'an HTTP header name',
    ).toLowerCase(),
    scheme: textOf(`${prefix}scheme`, options.scheme ?? 'v1', LABEL, "a label such as 'v1'"),
    timestampUnit: oneOf(`${prefix}timestampUnit`, options.timestampUnit ?? 'auto', UNITS),
    fields: fieldsOf(options.fields),
  }
  const names = Object.values(contract.fields)
  if (names.some(name => typeof name !== 'string' || name === '') || new Set(names).size !== 4) {
    throw new ConfigurationError(`${prefix}fields`, 'must give four different, non-empty field names')
  }
  const { upcast } = options
  if (upcast === undefined) return contract
  if (typeof upcast !== 'function') {
    throw new ConfigurationError(`${prefix}upcast`, 'must be a function that takes an event and returns one')
  }
  refuseGenerator(`${prefix}upcast`, upcast)
  return { ...contract, upcast }
}

/** Returns the published names object itself without overrides: the decoder then need not copy the event. */
function fieldsOf(changed: ContractOptions['fields']): EnvelopeFields {
  if (changed === undefined) return PUBLISHED_FIELDS
  const given = Object.entries(changed).filter(([, name]) => name !== undefined)
  return { ...PUBLISHED_FIELDS, ...Object.fromEntries(given) }
}

function textOf(option: string, value: string, form: RegExp, what: string): string {
  if (typeof value === 'string' && form.test(value)) return value
  throw new ConfigurationError(option, `must be ${what}; got '${String(value)}'`)
}

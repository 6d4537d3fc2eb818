import { ConfigurationError } from '../errors/errors.ts'
import type { GroupBy } from '../inbox/delivery.ts'
import type { Groups } from '../inbox/handling.ts'
import type { Inbox } from '../inbox/inbox.ts'
import { refuseNull, refuseUnknownNames, show, wholeNumber } from '../lib/check-option.ts'
import { refuseGenerator } from '../lib/lazy-value.ts'

/**
 * Shares the slots of a process among groups of events, so that many slow events of one group do not hold up the others.
 * Give one of `perType`, `perNamespace`, and `by` with `perGroup`.
 */
export interface ConcurrencyOptions {
  /** Events handled at one time. Default 16. `0` with a durable inbox: this process only receives. */
  readonly total?: number | undefined
  /** At most this many of them have one type; slots go to the types with waiting events in turn. */
  readonly perType?: number | undefined
  /** The same for each namespace. */
  readonly perNamespace?: number | undefined
  /** Returns the group of an event, say its customer. Events for which it returns `undefined` are one group. */
  readonly by?: GroupBy | undefined
  /** At most this many events of one group that `by` returned. */
  readonly perGroup?: number | undefined
}

/** The option `concurrency`, checked. */
export interface Concurrency {
  readonly concurrency: number
  readonly groups: Groups | undefined
  readonly groupBy: 'type' | 'namespace' | GroupBy | undefined
}

const NAMES = ['total', 'perType', 'perNamespace', 'by', 'perGroup'] satisfies (keyof ConcurrencyOptions)[]
const MAX = 100_000

/** Throws {@link ConfigurationError}. */
export function resolveConcurrency(
  option: number | ConcurrencyOptions | undefined,
  inbox: Inbox,
): Concurrency {
  if (typeof option !== 'object') return plain('concurrency', option, inbox)
  if (Array.isArray(option))
    throw new ConfigurationError(
      'concurrency',
      `must be a number, or an object such as { total: 16, perType: 4 }; got ${show(option)}`,
    )
  refuseUnknownNames(option, NAMES, 'concurrency', '{ total: 16, perType: 4 }')
  refuseNull(option, 'concurrency')
  const total = plain('concurrency.total', option.total, inbox)
  const { concurrency } = total
  const limit = limitOf(option, concurrency)
  if (limit === undefined) return total
  if (inbox.sharesSlots !== true)
    throw new ConfigurationError(
      `concurrency.${limit.name}`,
      inbox.cannotShareSlots ??
        'this inbox cannot share its slots among groups: write concurrency as a number, or use the memory inbox or sqliteInbox',
    )
  const { groupBy, value } = limit
  const by = typeof groupBy === 'string' ? groupBy : 'function'
  return { concurrency, groups: { by, limit: value }, groupBy }
}

function plain(name: string, value: number | undefined, inbox: Inbox): Concurrency {
  if (value === 0 && inbox.durable !== true) throw new ConfigurationError(name, '0 needs a durable inbox')
  const concurrency = wholeNumber(name, value ?? 16, inbox.durable === true ? 0 : 1, MAX)
  return { concurrency, groups: undefined, groupBy: undefined }
}

interface Limit extends Pick<Concurrency, 'groupBy'> {
  readonly name: string
  readonly value: number
}

function limitOf(option: ConcurrencyOptions, total: number): Limit | undefined {
  const { perType, perNamespace, by, perGroup } = option
  const given = (['perType', 'perNamespace', 'by'] as const).filter(name => option[name] !== undefined)
  if (given.length > 1)
    throw new ConfigurationError(
      `concurrency.${given[1]}`,
      `cannot be combined with ${given[0]}: leave one out`,
    )
  if (by !== undefined && typeof by !== 'function')
    throw new ConfigurationError('concurrency.by', `must be a function of the event; got ${show(by)}`)
  refuseGenerator('concurrency.by', by)
  if ((by === undefined) !== (perGroup === undefined))
    throw new ConfigurationError('concurrency.perGroup', 'goes together with by: give both, or neither')
  const checked = (name: string, value: number): number =>
    wholeNumber(`concurrency.${name}`, value, 1, total === 0 ? MAX : total)
  if (perType !== undefined) return { name: 'perType', value: checked('perType', perType), groupBy: 'type' }
  if (perNamespace !== undefined)
    return { name: 'perNamespace', value: checked('perNamespace', perNamespace), groupBy: 'namespace' }
  if (perGroup === undefined) return undefined
  return { name: 'perGroup', value: checked('perGroup', perGroup), groupBy: by }
}

import type { EventSchemas } from '@ackhook/core'
import { literal } from '@ackhook/core/spi'
import { type ObservedContract, observe } from '../record/observed-contract.ts'
import type { Recording } from '../record/recording.ts'
import type { Shape } from '../shape/shape.ts'
import { compareShapes } from './compare-shapes.ts'
import { declared } from './declared.ts'
import type { Finding } from './finding.ts'
import { envelopeFix, NEW_TYPE_FIX } from './fixes.ts'
import { findRenames } from './renames.ts'

export type { DriftKind, Finding } from './finding.ts'

/** What is known of the contract: recorded deliveries, or the schemas of the option `events`. */
export type Known = readonly Recording[] | EventSchemas

/** Compares what is known of the contract with recorded deliveries. Throws `ConfigurationError` for schemas that cannot be read.
 *
 * @example
 * const findings = driftOf(readRecordings('known'), readRecordings('recorded'))
 */
export function driftOf(known: Known, observed: readonly Recording[]): readonly Finding[] {
  const before = contractOf(known)
  const envelope = renamedEnvelope(before, observe(observed))
  const after = observe(observed, Object.fromEntries(envelope))
  const renamed = [...envelope].map(
    ([field, to]): Finding => ({
      kind: 'renamed-field',
      path: field,
      isBreaking: true,
      text: `${field} is missing, and ${to} beside it is new: it looks renamed`,
      fix: envelopeFix(field, to),
    }),
  )
  return [...renamed, ...compareSignatures(before, after), ...compareTypes(before, after)]
}

export function contractOf(known: Known): ObservedContract {
  return Array.isArray(known) ? observe(known as readonly Recording[]) : declared(known as EventSchemas)
}

/** Without its type an event cannot be compared with others of the type: so the envelope's names are found first. */
function renamedEnvelope(before: ObservedContract, after: ObservedContract): ReadonlyMap<string, string> {
  const nameless = after.types.get('')
  const example = [...before.types].find(([type]) => type !== '')?.[1]
  if (nameless === undefined || example === undefined) return new Map()
  const without = (shape: Shape, other: Shape): ReadonlyMap<string, Shape> =>
    new Map([...shape.fields].filter(([name]) => !other.fields.has(name)))
  const missing = new Map([...without(example, nameless)].filter(([name]) => ENVELOPE.includes(name)))
  return findRenames(missing, without(nameless, example))
}

const ENVELOPE = ['id', 'type', 'created_at', 'data']

function compareTypes(before: ObservedContract, after: ObservedContract): readonly Finding[] {
  return [...after.types]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([type, shape]) => {
      const known = before.types.get(type)
      return known === undefined ? [newType(type)] : [...compareShapes(known, shape, { type, path: '' })]
    })
}

export function newType(type: string): Finding {
  const text = type === '' ? 'Deliveries without a type arrive' : `The type ${type} is new`
  return { kind: 'new-type', type, isBreaking: type === '', text, fix: NEW_TYPE_FIX }
}

function compareSignatures(before: ObservedContract, after: ObservedContract): readonly Finding[] {
  if (before.signatures.length === 0) return []
  const changed = <Name extends 'header' | 'scheme' | 'timestampUnit'>(name: Name): readonly string[] => {
    const known = new Set<string>(before.signatures.map(one => one[name]))
    return [...new Set<string>(after.signatures.map(one => one[name]))].filter(one => !known.has(one))
  }
  return [
    ...changed('header').map(to =>
      moved('moved-header', `The signature is in the header ${to}`, `header: ${literal(to)}`),
    ),
    ...changed('scheme').map(to =>
      moved('moved-label', `The label of the signature is ${to}`, `scheme: ${literal(to)}`),
    ),
    ...changed('timestampUnit').map(movedUnit),
  ]
}

function moved(kind: 'moved-header' | 'moved-label', text: string, option: string): Finding {
  return { kind, isBreaking: true, text, fix: `contract: { ${option} }` }
}

export function movedUnit(unit: string): Finding {
  return {
    kind: 'moved-unit',
    path: 't',
    isBreaking: false,
    text: `The t of the signature is in ${unit}`,
    fix: `Nothing, with the default timestampUnit 'auto'. Otherwise contract: { timestampUnit: '${unit}' }`,
  }
}

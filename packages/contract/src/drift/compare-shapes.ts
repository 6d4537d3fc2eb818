import { allows, KIND, nameOfKinds } from '../shape/kinds.ts'
import { ANY_KEY } from '../shape/names.ts'
import type { Shape } from '../shape/shape.ts'
import type { Finding } from './finding.ts'
import {
  envelopeFix,
  LARGE_FIX,
  NEW_FIELD_FIX,
  OPTIONAL_FIX,
  renameFix,
  unitFix,
  VALUE_FIX,
} from './fixes.ts'
import { findRenames } from './renames.ts'

/** Where two shapes are compared. */
interface Place {
  /** Event type, if it is known. */
  readonly type: string | undefined
  readonly path: string
}

/** Compares the values of one field, and all inside of them: as far as somebody asks for a further finding. */
export function* compareShapes(known: Shape, observed: Shape, at: Place): Generator<Finding> {
  if (known.isAny) return
  yield* compareKinds(known, observed, at)
  yield* compareValues(known, observed, at)
  if (known.objects > 0 && observed.objects > 0) yield* compareFields(known, observed, at)
  if (known.items !== undefined && observed.items !== undefined)
    yield* compareShapes(known.items, observed.items, { ...at, path: `${at.path}[]` })
}

function compareKinds(known: Shape, observed: Shape, at: Place): readonly Finding[] {
  const added = Object.values(KIND).filter(bit => (observed.kinds & bit) !== 0 && !allows(known.kinds, bit))
  return added.map(bit => {
    const was = nameOfKinds(known.kinds)
    if (bit === KIND.large) {
      const text = `${at.path} has a number beyond 2^53, which JSON.parse rounds`
      return { ...at, kind: 'large-number', isBreaking: true, text, fix: LARGE_FIX }
    }
    if (bit === KIND.seconds || bit === KIND.milliseconds) {
      const text = `${at.path} was a ${was}, and is a ${nameOfKinds(bit)}`
      const isUnit = (known.kinds & (KIND.seconds | KIND.milliseconds)) !== 0
      return { ...at, kind: isUnit ? 'moved-unit' : 'changed-kind', isBreaking: true, text, fix: unitFix(at) }
    }
    const text =
      bit === KIND.null
        ? `${at.path} may be null, and was always a ${was}`
        : `${at.path} was a ${was}, and may be a ${nameOfKinds(bit)}`
    return { ...at, kind: 'changed-kind', isBreaking: true, text, fix: OPTIONAL_FIX }
  })
}

function compareValues(known: Shape, observed: Shape, at: Place): readonly Finding[] {
  if (!known.isClosed || known.values === undefined || observed.values === undefined) return []
  const values = [...observed.values.keys()].filter(value => known.values?.has(value) !== true).sort()
  if (values.length === 0) return []
  const count = known.values.size
  const text = `${at.path} has a value outside of the ${count === 1 ? 'one known' : `${count} known ones`}`
  return [{ ...at, kind: 'new-value', isBreaking: false, text, values, fix: VALUE_FIX }]
}

function* compareFields(known: Shape, observed: Shape, at: Place): Generator<Finding> {
  const inside = (name: string): Place => ({ ...at, path: at.path === '' ? name : `${at.path}.${name}` })
  const hasAnyKey = known.fields.has(ANY_KEY)
  const added = new Map([...observed.fields].filter(([name]) => !hasAnyKey && !known.fields.has(name)))
  const missing = new Map(
    [...known.fields].filter(([name]) => known.isRequired(name) && !observed.fields.has(name)),
  )
  const renames = findRenames(missing, added)
  const newNames = new Set(renames.values())
  for (const [name, to] of renames) yield renamed(inside(name), { name, to })
  for (const name of missing.keys()) if (!renames.has(name)) yield gone(inside(name))
  for (const name of added.keys()) if (!newNames.has(name)) yield appeared(inside(name))
  for (const [name, field] of observed.fields) {
    const before = known.fields.get(name) ?? known.fields.get(ANY_KEY)
    if (before === undefined) continue
    if (known.isRequired(name) && !observed.isRequired(name)) yield optional(inside(name))
    yield* compareShapes(before, field, inside(name))
  }
  for (const [name, to] of renames) {
    const [before, after] = [known.fields.get(name), observed.fields.get(to)]
    if (before !== undefined && after !== undefined) yield* compareShapes(before, after, inside(to))
  }
}

const ENVELOPE = ['id', 'type', 'created_at', 'data']

function renamed(at: Place, { name, to }: { readonly name: string; readonly to: string }): Finding {
  const isEnvelope = ENVELOPE.includes(at.path)
  return {
    ...at,
    kind: 'renamed-field',
    isBreaking: true,
    text: `${at.path} is missing, and ${to} beside it is new: it looks renamed`,
    fix: isEnvelope ? envelopeFix(name, to) : renameFix(at, to),
  }
}

function gone(at: Place): Finding {
  const text = `${at.path} was always there, and is missing`
  return { ...at, kind: 'missing-field', isBreaking: true, text, fix: OPTIONAL_FIX }
}

function optional(at: Place): Finding {
  const text = `${at.path} was always there, and is missing in some deliveries`
  return { ...at, kind: 'optional-field', isBreaking: true, text, fix: OPTIONAL_FIX }
}

function appeared(at: Place): Finding {
  return { ...at, kind: 'new-field', isBreaking: false, text: `${at.path} is new`, fix: NEW_FIELD_FIX }
}

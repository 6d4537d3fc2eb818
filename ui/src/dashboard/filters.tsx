import { computed, type ReadonlySignal } from '@preact/signals'
import type { Browsing, LetterFilter } from '../../../packages/dashboard/src/protocol/protocol.ts'
import { Field } from '../kit/elements.tsx'
import { FieldChoice } from '../kit/payload-field.tsx'
import { route, setQuery } from '../kit/route.ts'
import type { Selection } from '../kit/selection.ts'
import { visible } from '../kit/text.ts'
import { Age, boundOf, describeAge } from './age.tsx'

const LABELS = {
  type: 'Type',
  reason: 'Error',
  error: 'Class of the error',
  group: 'Group',
  text: 'Id, type or namespace',
  id: 'Event id',
  namespace: 'Namespace',
} as const
type Name = keyof typeof LABELS
const NAMES = Object.keys(LABELS) as readonly Name[]

export type EventSelection = Selection<LetterFilter>

interface Here extends EventSelection {
  /** Age that letters must have; its time limit is not part of `filter` yet. */
  readonly age: string
}

/** What the address selects. With filters, the order is always newest first, as in the indexes. */
export const selectionHere: ReadonlySignal<Here> = computed(() => {
  const { query } = route.value
  const set = NAMES.map(name => [name, query.get(name) ?? ''] as const).filter(([, value]) => value !== '')
  const age = query.get('age') ?? ''
  const words = [
    ...set.map(([name, value]) => [LABELS[name], value] as const),
    ...(age === '' ? [] : [[FAILED, describeAge(age)] as const]),
  ]
  return {
    filter: Object.fromEntries(set),
    order: words.length === 0 && query.get('order') === 'oldest' ? 'oldest' : '',
    words,
    address: query.toString(),
    age,
  }
})

/** What the address selects at a time of the server: an age becomes the time by which letters have failed. */
export function selectionAt(now: number): EventSelection {
  const { age, ...selection } = selectionHere.value
  if (age === '') return selection
  const failedBy = boundOf(age, now)
  const words = selection.words.map(([label, value]) =>
    label === FAILED ? ([label, describeAge(age, failedBy)] as const) : ([label, value] as const),
  )
  return { ...selection, filter: { ...selection.filter, failedBy }, words }
}

const FAILED = 'Failed'

/** Shows fields for the filters that the inbox supports, and for any other in the address. */
export function Filters({
  filters,
  bodies,
}: {
  readonly filters: readonly (Browsing['filters'][number] | 'reason' | 'age')[]
  readonly bodies: boolean
}) {
  const { filter, age } = selectionHere.value
  const offered: readonly (Name | 'age')[] = [...filters, ...(filters.includes('text') ? [] : BY_NAME)]
  return (
    <search class="fields">
      {NAMES.filter(name => offered.includes(name) || filter[name] !== undefined).map(name => (
        <Filter key={name} name={name} />
      ))}
      {(offered.includes('age') || age !== '') && <Age label={FAILED} age={age} />}
      {bodies && <FieldChoice />}
    </search>
  )
}

/** Label of the filters where they are folded. */
export function filtersLabel(): string {
  const { length } = selectionHere.value.words
  return length === 0 ? 'Filters' : `Filters (${length})`
}

/** What the filters select, for the window's title. */
export function filtersTitle(): string {
  return selectionHere.value.words.map(([, value]) => visible(value)).join(', ')
}

const BY_NAME = ['id', 'namespace'] as const

/** Returns a function that clears the filters; undefined if there are none. */
export function clearing(): (() => void) | undefined {
  if (selectionHere.value.words.length === 0) return undefined
  return () => setQuery(Object.fromEntries([...NAMES, 'age'].map(name => [name, ''])))
}

function Filter({ name }: { readonly name: Name }) {
  return (
    <Field label={LABELS[name]}>
      <input
        type="search"
        name={name}
        size={14}
        value={route.value.query.get(name) ?? ''}
        onChange={event => setQuery({ [name]: event.currentTarget.value.trim() })}
      />
    </Field>
  )
}

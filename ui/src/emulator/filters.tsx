import { Field } from '../kit/elements.tsx'
import { FieldChoice } from '../kit/payload-field.tsx'
import { route, setQuery } from '../kit/route.ts'
import type { Selection } from '../kit/selection.ts'
import { emulatorNow } from './emulator-clock.ts'
import { KINDS, MARKS, STATES } from './states.ts'

const CATEGORIES = ['message', 'conversation', 'call', 'campaign', 'contact']
const PERIODS: Readonly<Record<string, number>> = {
  '5 minutes': 300_000,
  '1 hour': 3_600_000,
  '24 hours': 86_400_000,
  '7 days': 604_800_000,
}
/** Shortest text that the trigram index can find. */
const MIN_TEXT = 3
export const LABELS = {
  state: 'State',
  category: 'Category',
  type: 'Type',
  kind: 'Kind',
  mark: 'Kind',
  status: 'Status',
  reply: 'Last reply',
  workspace: 'Workspace',
  event: 'Event id',
  message: 'Message id',
  batch: 'Batch',
  text: 'Text in the event',
  period: 'Time',
  from: 'From',
  to: 'Until',
} as const
type Name = keyof typeof LABELS
const NAMES = Object.keys(LABELS) as readonly Name[]

/** Returns what the address selects. A period ends now, by the emulator's time. */
export function selectionHere(): Selection {
  const { query } = route.value
  const set = NAMES.map(name => [name, query.get(name) ?? ''] as const).filter(([, value]) => value !== '')
  const ms = periodHere()?.ms
  const from = ms === undefined ? {} : { from: new Date(emulatorNow.peek() - ms).toISOString() }
  return {
    filter: { ...Object.fromEntries(set.filter(([name]) => name !== 'period')), ...from },
    order: query.get('order') === 'oldest' ? 'oldest' : '',
    words: set.map(([name, value]) => [LABELS[name], value] as const),
    address: query.toString(),
  }
}

/** Returns the period in the address. */
export function periodHere(): { readonly name: string; readonly ms: number } | undefined {
  const name = route.value.query.get('period') ?? ''
  const ms = PERIODS[name]
  return ms === undefined ? undefined : { name, ms }
}

/** Returns a function that clears the filters; undefined if none is set. A state set by the page does not count. */
export function clearing(withState = true): (() => void) | undefined {
  const names = NAMES.filter(name => withState || name !== 'state')
  if (names.every(name => (route.value.query.get(name) ?? '') === '')) return undefined
  return () => setQuery(Object.fromEntries(names.map(name => [name, ''])))
}

/** Names the filters where they are folded, with the number of those that are set. */
export function filtersLabel(withState = true): string {
  const names = NAMES.filter(name => withState || name !== 'state')
  const count = names.filter(name => (route.value.query.get(name) ?? '') !== '').length
  return count === 0 ? 'Filters' : `Filters (${count})`
}

/** Returns whether the text is too short to be searched for, so that nothing matches. */
export function isTextTooShort({ filter }: Selection): boolean {
  const { text = '' } = filter
  return text !== '' && [...text].length < MIN_TEXT
}

export function Filters({ withState = true }: { readonly withState?: boolean }) {
  const clear = clearing(withState)
  return (
    <search class="stack tight">
      <div class="fields">
        {withState && <Choice name="state" options={Object.keys(STATES)} />}
        <Choice name="category" options={CATEGORIES} />
        <Text name="type" placeholder="order.*" />
        <Kind />
        <Text name="status" placeholder="5xx" />
        <Text name="workspace" />
        <Period />
        <Text name="text" />
        <FieldChoice />
        {/* Set by links. */}
        {LINKED.map(name => (route.value.query.get(name) ?? '') !== '' && <Text key={name} name={name} />)}
        {clear !== undefined && (
          <button type="button" onClick={clear}>
            Clear
          </button>
        )}
      </div>
      {isTextTooShort(selectionHere()) && (
        <p class="note wait">Text needs three characters or more. Fewer match nothing.</p>
      )}
    </search>
  )
}

const LINKED = ['event', 'message', 'batch', 'reply'] as const
const SIZES: Readonly<Record<string, number>> = { status: 9, workspace: 6 }

interface TextProps {
  readonly name: Name
  readonly placeholder?: string
}

function Text({ name, placeholder }: TextProps) {
  return (
    <Field label={LABELS[name]}>
      <input
        type="search"
        name={name}
        size={SIZES[name] ?? 10}
        placeholder={placeholder}
        value={route.value.query.get(name) ?? ''}
        onChange={event => setQuery({ [name]: event.currentTarget.value.trim() })}
      />
    </Field>
  )
}

interface ChoiceProps {
  readonly name: Name
  readonly options: readonly string[]
}

function Choice({ name, options }: ChoiceProps) {
  return (
    <Field label={LABELS[name]}>
      <select
        name={name}
        value={route.value.query.get(name) ?? ''}
        onChange={event => setQuery({ [name]: event.currentTarget.value })}
      >
        <option value="">Any</option>
        {options.map(option => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </Field>
  )
}

/** A time up to now, or one that was chosen in the chart. */
function Period() {
  const { query } = route.value
  const isChosen = query.get('from') !== null || query.get('to') !== null
  return (
    <Field label={LABELS.period}>
      <select
        name="period"
        value={isChosen ? CHOSEN : (query.get('period') ?? '')}
        onChange={event => setQuery({ period: event.currentTarget.value, from: '', to: '' })}
      >
        <option value="">Any</option>
        {Object.keys(PERIODS).map(option => (
          <option key={option}>{option}</option>
        ))}
        {isChosen && <option>{CHOSEN}</option>}
      </select>
    </Field>
  )
}

const CHOSEN = 'chosen below'

/** What a delivery is, or what happened to it: one choice of two parameters. */
function Kind() {
  const { query } = route.value
  const set = (['kind', 'mark'] as const).find(name => (query.get(name) ?? '') !== '')
  const choose = (value: string) => {
    const [name = '', chosen = ''] = value.split(' ')
    setQuery({ kind: '', mark: '', [name]: chosen })
  }
  const options = [
    ...Object.entries(KINDS).map(([value, label]) => [`kind ${value}`, label || 'first'] as const),
    ...Object.entries(MARKS).map(([value, label]) => [`mark ${value}`, label] as const),
  ]
  return (
    <Field label={LABELS.kind}>
      <select
        name="kind"
        value={set === undefined ? '' : `${set} ${query.get(set)}`}
        onChange={event => choose(event.currentTarget.value)}
      >
        <option value="">Any</option>
        {options.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </Field>
  )
}

import { Field } from '../kit/field.tsx'
import { route, setQuery } from '../kit/route.ts'
import { emulatorNow } from './emulator-clock.ts'
import { STATES } from './states.ts'

const CATEGORIES = ['message', 'conversation', 'call', 'campaign', 'contact']
const PERIODS: Readonly<Record<string, number>> = {
  '5 minutes': 300_000,
  '1 hour': 3_600_000,
  '24 hours': 86_400_000,
  '7 days': 604_800_000,
}
/** Shortest text that the trigram index can find. */
const MIN_TEXT = 3
const PASSED_ON = ['workspace', 'category', 'type', 'state', 'status', 'event', 'message', 'text'] as const

/** Returns the filters in the address for the API, without a text too short for the index. */
export function filterHere(): Readonly<Record<string, string>> {
  const { query } = route.value
  const entries = PASSED_ON.flatMap(name => {
    const value = query.get(name) ?? ''
    return value === '' || (name === 'text' && isTextTooShort()) ? [] : [[name, value] as const]
  })
  const ms = periodHere()?.ms
  const from = ms === undefined ? {} : { from: new Date(emulatorNow.peek() - ms).toISOString() }
  return { ...Object.fromEntries(entries), ...from }
}

/** Returns the period in the address. */
export function periodHere(): { readonly name: string; readonly ms: number } | undefined {
  const name = route.value.query.get('period') ?? ''
  const ms = PERIODS[name]
  return ms === undefined ? undefined : { name, ms }
}

/** Returns the order in the address for the API. */
export function orderHere(): 'newest' | 'oldest' {
  return route.value.query.get('order') === 'oldest' ? 'oldest' : 'newest'
}

/** Returns a function that clears the filters; undefined if none is set. A state set by the page does not count. */
export function clearing(withState = true): (() => void) | undefined {
  const names = [...PASSED_ON, 'period'].filter(name => withState || name !== 'state')
  if (names.every(name => (route.value.query.get(name) ?? '') === '')) return undefined
  return () => setQuery(Object.fromEntries(names.map(name => [name, ''])))
}

export function isTextTooShort(): boolean {
  const length = [...(route.value.query.get('text') ?? '')].length
  return length > 0 && length < MIN_TEXT
}

export function Filters({ withState = true }: { readonly withState?: boolean }) {
  const clear = clearing(withState)
  return (
    <search class="stack tight">
      <div class="fields">
        {withState && <Choice name="state" label="State" options={Object.keys(STATES)} />}
        <Choice name="category" label="Category" options={CATEGORIES} />
        <Text name="type" label="Type" placeholder="order.*" />
        <Text name="status" label="Status" />
        <Text name="workspace" label="Workspace" />
        <Choice name="period" label="Time" options={Object.keys(PERIODS)} />
        <Text name="text" label="Text in the event" />
        {clear !== undefined && (
          <button type="button" onClick={clear}>
            Clear
          </button>
        )}
      </div>
      {isTextTooShort() && (
        <p class="note wait">Text needs three characters or more. Until then, it is ignored.</p>
      )}
    </search>
  )
}

const SIZES: Readonly<Record<string, number>> = { status: 4, workspace: 8 }

interface TextProps {
  readonly name: string
  readonly label: string
  readonly placeholder?: string
}

function Text({ name, label, placeholder }: TextProps) {
  return (
    <Field label={label}>
      <input
        type="search"
        name={name}
        size={SIZES[name] ?? 12}
        placeholder={placeholder}
        value={route.value.query.get(name) ?? ''}
        onChange={event => setQuery({ [name]: event.currentTarget.value.trim() })}
      />
    </Field>
  )
}

interface ChoiceProps {
  readonly name: string
  readonly label: string
  readonly options: readonly string[]
}

function Choice({ name, label, options }: ChoiceProps) {
  return (
    <Field label={label}>
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

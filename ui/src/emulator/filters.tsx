import { Field } from '../kit/field.tsx'
import { route, setQuery } from '../kit/route.ts'
import { emulatorNow } from './emulator-clock.ts'
import { STATES } from './states.ts'

const CATEGORIES = ['message', 'conversation', 'call', 'campaign', 'contact']
const PERIODS: Readonly<Record<string, number>> = {
  '5 minutes': 300_000,
  '1 hour': 3_600_000,
  '24 hours': 86_400_000,
}
const PASSED_ON = ['workspace', 'category', 'type', 'state', 'status', 'event', 'message', 'text'] as const

/** The filters in the address, as the API takes them. */
export function filterHere(): Readonly<Record<string, string>> {
  const { query } = route.value
  const entries = PASSED_ON.flatMap(name => {
    const value = query.get(name) ?? ''
    return value === '' ? [] : [[name, value] as const]
  })
  const periodMs = PERIODS[query.get('period') ?? '']
  const from = periodMs === undefined ? {} : { from: new Date(emulatorNow.peek() - periodMs).toISOString() }
  return { ...Object.fromEntries(entries), ...from }
}

export function isFiltered(): boolean {
  return Object.keys(filterHere()).length > 0
}

/** The text index is of three characters each. */
export function isTextTooShort(): boolean {
  const { text = '' } = filterHere()
  return text !== '' && text.length < 3
}

export function Filters({ withState = true }: { readonly withState?: boolean }) {
  return (
    <search class="fields">
      {withState && <Choice name="state" label="State" options={Object.keys(STATES)} />}
      <Choice name="category" label="Category" options={CATEGORIES} />
      <Text name="type" label="Type" />
      <Text name="status" label="Status" />
      <Text name="workspace" label="Workspace" />
      <Choice name="period" label="Time" options={Object.keys(PERIODS)} />
      <Text name="text" label="Text in the event" />
      {isFiltered() && (
        <button
          type="button"
          onClick={() => setQuery(Object.fromEntries([...PASSED_ON, 'period'].map(name => [name, ''])))}
        >
          Clear
        </button>
      )}
    </search>
  )
}

function Text({ name, label }: { readonly name: string; readonly label: string }) {
  return (
    <Field label={label}>
      <input
        type="search"
        name={name}
        size={name === 'status' ? 5 : 14}
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

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Field } from './elements.tsx'
import { visible } from './text.ts'

const STORED = 'ackhook-field'
const PRESET = 'conversation_id'
const MAX_KEPT = 5000

/** Name of the payload's field that lists show, with dots for nested ones. */
export const fieldName = signal(localStorage.getItem(STORED) ?? PRESET)

const values = signal<ReadonlyMap<string, string>>(new Map())

/** Returns the field's values of some events, by id. Those without the field may be absent. */
type LoadValues = (
  ids: readonly string[],
  name: string,
) => Promise<Readonly<Record<string, string | null | undefined>>>

/** Creates a cell that shows an event's field. Rows in view ask together, for at most `atOnce` events in one call. */
export function createFieldCell(load: LoadValues, atOnce: number) {
  const wanted = new Set<string>()
  let isAsking = false
  const want = (id: string): void => {
    wanted.add(id)
    if (isAsking) return
    isAsking = true
    requestAnimationFrame(() => void ask())
  }
  const ask = async (): Promise<void> => {
    const ids = [...wanted].slice(0, atOnce)
    const name = fieldName.peek()
    for (const id of ids) wanted.delete(id)
    try {
      const found = await load(ids, name)
      const kept = values.peek().size > MAX_KEPT ? [] : values.peek()
      // An event without the field is not asked for again.
      const loaded = ids.map(id => [id, found[id] ?? ''] as const)
      if (name === fieldName.peek()) values.value = new Map([...kept, ...loaded])
    } catch {
      // The cells stay empty: the list itself says that the server does not respond.
    }
    isAsking = wanted.size > 0
    if (isAsking) requestAnimationFrame(() => void ask())
  }
  return function FieldCell({ id }: { readonly id: string }) {
    const name = fieldName.value
    useEffect(() => {
      if (name !== '' && !values.peek().has(id)) want(id)
    }, [id, name])
    const value = visible(values.value.get(id) ?? '')
    return (
      <span class="mono" title={value}>
        {value}
      </span>
    )
  }
}

/** Chooses the field, in this browser. */
export function FieldChoice() {
  const choose = (name: string) => {
    if (name === fieldName.peek()) return
    values.value = new Map()
    fieldName.value = name
    localStorage.setItem(STORED, name)
  }
  return (
    <Field label="Field shown">
      <input
        type="search"
        name="field"
        size={13}
        placeholder="none"
        value={fieldName.value}
        onChange={event => choose(event.currentTarget.value.trim())}
      />
    </Field>
  )
}

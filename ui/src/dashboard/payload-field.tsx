import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { FieldsRequest, FieldValues } from '../../../packages/dashboard/src/protocol/protocol.ts'
import { call } from '../kit/api.ts'
import type { Column } from '../kit/data-table.tsx'
import { Field } from '../kit/elements.tsx'
import { visible } from '../kit/text.ts'

const STORED = 'ackhook-field'
const PRESET = 'conversation_id'
/** Values kept, and keys in one call. */
const MOST = { kept: 5000, asked: 100 }

/** Name of the payload's field that lists show, with dots for nested ones. */
export const fieldName = signal(localStorage.getItem(STORED) ?? PRESET)

const values = signal<ReadonlyMap<string, string>>(new Map())
const wanted = new Set<string>()
let isAsking = false

/** A column with the chosen field; none if there is no field, or bodies are hidden. */
export function fieldColumns(bodies: boolean): readonly Column<{ readonly key: string }>[] {
  const name = fieldName.value
  if (!bodies || name === '') return []
  return [{ key: 'field', label: visible(name), width: '9rem', cell: ({ key }) => <FieldCell id={key} /> }]
}

/** Shows the field of an event. Only rows in view ask for it, together. */
function FieldCell({ id }: { readonly id: string }) {
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
        placeholder="none"
        value={fieldName.value}
        onChange={event => choose(event.currentTarget.value.trim())}
      />
    </Field>
  )
}

function want(id: string): void {
  wanted.add(id)
  if (isAsking) return
  isAsking = true
  requestAnimationFrame(() => void ask())
}

async function ask(): Promise<void> {
  const keys = [...wanted].slice(0, MOST.asked)
  const name = fieldName.peek()
  for (const key of keys) wanted.delete(key)
  try {
    const body: FieldsRequest = { keys, name }
    const found = await call<FieldValues>('api/events/fields', { method: 'POST', body })
    const kept = values.peek().size > MOST.kept ? [] : values.peek()
    // An event without the field is not asked for again.
    const none = keys.map(key => [key, ''] as const)
    if (name === fieldName.peek()) values.value = new Map([...kept, ...none, ...Object.entries(found.values)])
  } catch {
    // The cells stay empty: the list itself says that the server does not respond.
  }
  isAsking = wanted.size > 0
  if (isAsking) requestAnimationFrame(() => void ask())
}

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Field } from '../kit/elements.tsx'
import { visible } from '../kit/text.ts'
import { api } from './api.ts'

const STORED = 'ackhook-field'
const PRESET = 'conversation_id'
/** Values kept, and ids in one call. */
const MOST = { kept: 5000, asked: 200 }

/** Name of the payload's field that lists show, with dots for nested ones. */
export const fieldName = signal(localStorage.getItem(STORED) ?? PRESET)

const values = signal<ReadonlyMap<string, string | null>>(new Map())
const wanted = new Set<string>()
let isAsking = false

/** Shows the field of a delivery's event. Only rows in view ask for it, together. */
export function FieldCell({ id }: { readonly id: string }) {
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
        size={13}
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
  const ids = [...wanted].slice(0, MOST.asked)
  const name = fieldName.peek()
  for (const id of ids) wanted.delete(id)
  try {
    const reply = await api<{ readonly values: Readonly<Record<string, string | null>> }>(
      'deliveries/fields',
      { method: 'POST', body: { ids, name } },
    )
    const kept = values.peek().size > MOST.kept ? [] : values.peek()
    if (name === fieldName.peek()) values.value = new Map([...kept, ...Object.entries(reply.values)])
  } catch {
    // The cells stay empty; the list itself says that the emulator is gone.
  }
  isAsking = wanted.size > 0
  if (isAsking) requestAnimationFrame(() => void ask())
}

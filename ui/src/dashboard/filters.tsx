import type { Browsing, LetterFilter } from '../../../packages/dashboard/src/protocol/protocol.ts'
import { Field } from '../kit/field.tsx'
import { route, setQuery } from '../kit/route.ts'

const NAMES = ['type', 'error', 'text', 'id', 'namespace'] as const

/** Shows fields for the filters that the inbox supports. An exact id always works. */
export function Filters({
  filters,
}: {
  readonly filters: readonly (Browsing['filters'][number] | 'error')[]
}) {
  return (
    <search class="fields">
      {filters.includes('type') && <Filter name="type" label="Type" />}
      {filters.includes('error') && <Filter name="error" label="Error" />}
      {filters.includes('text') ? (
        <Filter name="text" label="Id, type or namespace" />
      ) : (
        <>
          <Filter name="id" label="Event id" />
          <Filter name="namespace" label="Namespace" />
        </>
      )}
    </search>
  )
}

/** Returns the filters in the address. A namespace counts only with an id. */
export function filtersHere(): LetterFilter {
  const { query } = route.value
  const entries = NAMES.map(name => [name, query.get(name) ?? ''] as const)
  const found: LetterFilter = Object.fromEntries(entries.filter(([, value]) => value !== ''))
  if (found.id !== undefined) return found
  const { namespace: _, ...rest } = found
  return rest
}

/** Returns a function that clears the filters; undefined if there are none. */
export function clearing(): (() => void) | undefined {
  if (Object.keys(filtersHere()).length === 0) return undefined
  return () => setQuery(Object.fromEntries(NAMES.map(name => [name, ''])))
}

function Filter({ name, label }: { readonly name: (typeof NAMES)[number]; readonly label: string }) {
  return (
    <Field label={label}>
      <input
        type="search"
        name={name}
        value={route.value.query.get(name) ?? ''}
        onChange={event => setQuery({ [name]: event.currentTarget.value.trim() })}
      />
    </Field>
  )
}

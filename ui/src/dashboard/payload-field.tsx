import type { FieldsRequest, FieldValues } from '../../../packages/dashboard/src/protocol/protocol.ts'
import { call } from '../kit/api.ts'
import type { Column } from '../kit/data-table.tsx'
import { createFieldCell, fieldName } from '../kit/payload-field.tsx'
import { visible } from '../kit/text.ts'

const FieldCell = createFieldCell(async (keys, name) => {
  const body: FieldsRequest = { keys, name }
  return (await call<FieldValues>('api/events/fields', { method: 'POST', body })).values
}, 100)

/** A column with the chosen field; none if there is no field, or bodies are hidden. */
export function fieldColumns(bodies: boolean): readonly Column<{ readonly key: string }>[] {
  const name = fieldName.value
  if (!bodies || name === '') return []
  return [{ key: 'field', label: visible(name), width: '9rem', cell: ({ key }) => <FieldCell id={key} /> }]
}

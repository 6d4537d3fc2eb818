import { createFieldCell } from '../kit/payload-field.tsx'
import { api } from './api.ts'

/** Shows the field of a delivery's event. */
export const FieldCell = createFieldCell(async (ids, name) => {
  const body = { ids, name }
  const reply = await api<{ readonly values: Readonly<Record<string, string | null>> }>('deliveries/fields', {
    method: 'POST',
    body,
  })
  return reply.values
}, 200)

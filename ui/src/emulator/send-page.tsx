import { EVENT_TYPES } from 'virtual:event-types'
import { useSignal } from '@preact/signals'
import type { SentEvent } from '../../../packages/emulator/src/api/emulator-api.ts'
import { Field } from '../kit/field.tsx'
import { go } from '../kit/route.ts'
import { attempt } from '../kit/toasts.tsx'
import { api } from './api.ts'
import { FaultsForm } from './faults-form.tsx'

const MAX_AT_ONCE = 1000

/** A form for each type, and what shall go wrong on the way. */
export function SendPage() {
  const type = useSignal(EVENT_TYPES[0]?.type ?? '')
  const data = useSignal(textOf(type.value))
  const count = useSignal('1')
  const perSecond = useSignal('100')
  const known = EVENT_TYPES.find(one => one.type === type.value)
  const choose = (name: string) => {
    type.value = name
    data.value = textOf(name)
  }
  const submit = (event: Event) => {
    event.preventDefault()
    void attempt(() => send(type.value, data.value, Number(count.value), Number(perSecond.value)))
  }
  return (
    <>
      <h1>Send</h1>
      <form class="panel" onSubmit={submit}>
        <div class="fields">
          <Field label="Type">
            <input
              list="types"
              value={type.value}
              required
              onChange={event => choose(event.currentTarget.value)}
            />
          </Field>
          <datalist id="types">
            {EVENT_TYPES.map(one => (
              <option key={one.type} value={one.type}>
                {one.published ? one.type : `${one.type} (a guess)`}
              </option>
            ))}
          </datalist>
          <Field label="How many">
            <input
              type="number"
              min="1"
              max="100000"
              value={count.value}
              onInput={event => (count.value = event.currentTarget.value)}
            />
          </Field>
          <Field label="At most per second">
            <input
              type="number"
              min="1"
              max="1000"
              value={perSecond.value}
              onInput={event => (perSecond.value = event.currentTarget.value)}
            />
          </Field>
        </div>
        {known?.published !== true && (
          <p class="note">
            The platform has not published this type: its name and its data are a guess. Only
            conversation.resolved is published.
          </p>
        )}
        <label class="field">
          data
          <textarea rows={8} value={data.value} onInput={event => (data.value = event.currentTarget.value)} />
        </label>
        <div>
          <button type="submit" class="primary">
            Send
          </button>
        </div>
      </form>
      <FaultsForm />
    </>
  )
}

function textOf(type: string): string {
  return JSON.stringify(EVENT_TYPES.find(one => one.type === type)?.data ?? {}, undefined, 2)
}

/** One event leads to its delivery; several lead to the list. */
async function send(type: string, text: string, count: number, perSecond: number): Promise<string> {
  const data: unknown = JSON.parse(text)
  let first: SentEvent | undefined
  const perCall = Math.min(MAX_AT_ONCE, perSecond)
  for (let sent = 0; sent < count; sent += perCall) {
    const events = Array.from({ length: Math.min(perCall, count - sent) }, () => ({ type, data }))
    const startedAt = performance.now()
    const reply = await api<{ readonly events: readonly SentEvent[] }>('events', {
      method: 'POST',
      body: { events },
    })
    first ??= reply.events[0]
    const restMs = (events.length / perSecond) * 1000 - (performance.now() - startedAt)
    if (sent + perCall < count) await new Promise(resolve => setTimeout(resolve, Math.max(0, restMs)))
  }
  const delivery = first?.deliveries[0]
  if (count === 1 && delivery !== undefined) go(['deliveries', delivery.id])
  else go(['deliveries'])
  return count === 1 ? `Sent ${first?.id}.` : `Sent ${count.toLocaleString()} events.`
}

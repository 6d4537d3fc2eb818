import { EVENT_TYPES } from 'virtual:event-types'
import { useSignal } from '@preact/signals'
import type { EventToSend, SentEvent } from '../../../packages/emulator/src/api/emulator-api.ts'
import { Field } from '../kit/field.tsx'
import { formatCount } from '../kit/format-count.ts'
import { go } from '../kit/route.ts'
import { attempt } from '../kit/toasts.tsx'
import { api } from './api.ts'
import { FaultsForm } from './faults-form.tsx'

const MAX_AT_ONCE = 1000

/** A form for each type, and what shall go wrong on the way. */
export function SendPage() {
  const type = useSignal(EVENT_TYPES[0]?.type ?? '')
  const data = useSignal(textOf(type.value))
  const known = EVENT_TYPES.find(one => one.type === type.value)
  const mistake = mistakeIn(data.value)
  const choose = (name: string) => {
    type.value = name
    data.value = textOf(name)
  }
  const submit = (event: Event) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const seed = String(form.get('seed') ?? '')
    const numbers = {
      count: Number(form.get('count')),
      perSecond: Number(form.get('perSecond')),
      seed: seed === '' ? undefined : Number(seed),
    }
    void attempt(() => send({ type: type.value, data: data.value, ...numbers }))
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
              size={26}
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
            <input type="number" name="count" min="1" max="100000" defaultValue="1" />
          </Field>
          <Field label="At most per second">
            <input type="number" name="perSecond" min="1" max="1000" defaultValue="100" />
          </Field>
          <Field label="Seed of the sample">
            <input
              type="number"
              name="seed"
              min="0"
              max={2 ** 32 - 1}
              placeholder="any"
              disabled={data.value.trim() !== ''}
              aria-describedby="data-hint"
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
          <textarea
            rows={8}
            value={data.value}
            spellcheck={false}
            aria-describedby="data-hint"
            aria-invalid={mistake !== undefined}
            onInput={event => (data.value = event.currentTarget.value)}
          />
        </label>
        <p id="data-hint" class={mistake === undefined ? 'small quiet' : 'small wrong'} role="status">
          {mistake ?? hintOf(data.value)}
        </p>
        <div class="bar">
          <button type="submit" class="primary" disabled={mistake !== undefined}>
            Send
          </button>
          <button type="button" class="plain" disabled={data.value === ''} onClick={() => (data.value = '')}>
            Use sample data
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

/** Why a text cannot be `data`. Nothing is wrong with an empty one: the emulator makes a sample. */
function mistakeIn(text: string): string | undefined {
  if (text.trim() === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? undefined : 'data must be a JSON object: { … }.'
  } catch (cause) {
    return `This is not JSON: ${(cause as Error).message}`
  }
}

function hintOf(text: string): string {
  return text.trim() === ''
    ? 'The emulator makes sample data. The same seed makes the same again.'
    : 'Valid JSON, sent exactly as it is written here. A seed applies to sample data alone: empty this field to use one.'
}

interface Order {
  readonly type: string
  /** As it was typed; empty for sample data. */
  readonly data: string
  readonly seed: number | undefined
  readonly count: number
  readonly perSecond: number
}

/** One event leads to its delivery; several lead to the list. */
async function send({ type, data, seed, count, perSecond }: Order): Promise<string> {
  const event: EventToSend =
    data.trim() === '' ? { type, ...(seed !== undefined && { seed }) } : { type, rawData: data }
  let first: SentEvent | undefined
  const perCall = Math.min(MAX_AT_ONCE, perSecond)
  for (let sent = 0; sent < count; sent += perCall) {
    const events = Array.from({ length: Math.min(perCall, count - sent) }, () => event)
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
  return count === 1 ? `Sent ${first?.id}.` : `Sent ${formatCount(count)} events.`
}

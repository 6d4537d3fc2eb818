import { EVENT_TYPES } from 'virtual:event-types'
import { effect, signal } from '@preact/signals'
import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import type { SentEvent } from '../../../packages/emulator/src/api/emulator-api.ts'
import type { EventToSend } from '../../../packages/emulator/src/shapes/requests.ts'
import { Field } from '../kit/elements.tsx'
import { go, route } from '../kit/route.ts'
import { attempt } from '../kit/toasts.tsx'
import { api } from './api.ts'
import { startBatch } from './batches.tsx'
import { commandOf } from './command-of.ts'

const DRAFT = 'ackhook-draft'
const isSending = signal(false)

interface Draft {
  readonly type: string
  /** JSON as typed; empty for sample data. */
  readonly data: string
  /** `true` while the data is the type's example. */
  readonly isExample: boolean
  readonly seed: string
  readonly count: string
  readonly perSecond: string
}

/** The form's content, which survives page changes and reloads of this tab. */
const draft = signal<Draft>(readDraft())
effect(() => sessionStorage.setItem(DRAFT, JSON.stringify(draft.value)))

function readDraft(): Draft {
  const type = EVENT_TYPES[0]?.type ?? ''
  const first = { type, data: textOf(type), isExample: true, seed: '', count: '1', perSecond: '100' }
  const kept = JSON.parse(sessionStorage.getItem(DRAFT) ?? '{}') as Partial<Draft>
  return { ...first, ...kept }
}

function write(changes: Partial<Draft>): void {
  draft.value = { ...draft.value, ...changes }
}

/** Form for sending events of a type. */
export function SendPage() {
  const { type, data } = draft.value
  const known = EVENT_TYPES.find(one => one.type === type)
  const mistake = mistakeIn(data)
  const submit = (event: Event) => {
    event.preventDefault()
    void send(draft.value)
  }
  return (
    <>
      <h1>Send</h1>
      <form class="panel" onSubmit={submit}>
        <Numbers />
        {known?.published !== true && (
          <p class="note">
            The platform has not published this type: its name and data are guesses. Only
            conversation.resolved is published.
          </p>
        )}
        <label class="field">
          data
          <textarea
            rows={8}
            value={data}
            spellcheck={false}
            aria-describedby="data-hint"
            aria-invalid={mistake !== undefined}
            onInput={event => write({ data: event.currentTarget.value, isExample: false })}
          />
        </label>
        <p id="data-hint" class={mistake === undefined ? 'small quiet' : 'small wrong'} role="status">
          {mistake ?? hintOf(data)}
        </p>
        <div class="bar">
          <button type="submit" class="primary" disabled={mistake !== undefined || isSending.value}>
            {isSending.value ? 'Sending …' : 'Send'}
          </button>
          <button type="button" class="plain" disabled={data === ''} onClick={() => write({ data: '' })}>
            Use sample data
          </button>
          <button
            type="button"
            class="plain"
            disabled={known === undefined || data === textOf(type)}
            onClick={() => write({ data: textOf(type), isExample: true })}
          >
            Use this type's example
          </button>
        </div>
      </form>
    </>
  )
}

/** Fields for the type and the numbers. */
function Numbers() {
  const { type, data, seed, count, perSecond, isExample } = draft.value
  const choose = (name: string) => write({ type: name, ...(isExample && { data: textOf(name) }) })
  return (
    <div class="fields">
      <Field label="Type">
        <input
          list="types"
          value={type}
          required
          size={26}
          onInput={event => choose(event.currentTarget.value)}
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
          required
          value={count}
          onInput={event => write({ count: event.currentTarget.value })}
        />
      </Field>
      <Field label="Maximum per second">
        <input
          type="number"
          min="1"
          max="1000"
          required
          value={perSecond}
          onInput={event => write({ perSecond: event.currentTarget.value })}
        />
      </Field>
      <Field label="Seed for sample data">
        <input
          type="number"
          min="0"
          max={2 ** 32 - 1}
          placeholder="any"
          value={seed}
          disabled={data.trim() !== ''}
          aria-describedby="data-hint"
          onInput={event => write({ seed: event.currentTarget.value })}
        />
      </Field>
    </div>
  )
}

function textOf(type: string): string {
  return JSON.stringify(EVENT_TYPES.find(one => one.type === type)?.data ?? {}, undefined, 2)
}

/** Returns why a text cannot be `data`. Empty text is valid: the emulator generates a sample. */
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
    ? 'The emulator generates sample data. The same seed gives the same data.'
    : 'Valid JSON, sent unchanged. A seed applies only to sample data: clear this field to use one.'
}

/** Sends events: many as a batch of the emulator's. After a single one, opens its delivery if the user is still here. */
async function send({ type, data, seed, ...numbers }: Draft): Promise<void> {
  const [count, perSecond] = [Number(numbers.count), Number(numbers.perSecond)]
  const sample = seed === '' ? { type } : { type, seed: Number(seed) }
  const event: EventToSend = data.trim() === '' ? sample : { type, rawData: data }
  if (count > 1) {
    await startBatch({ action: 'send', event, count, perSecond })
    return
  }
  const flags = data.trim() === '' ? (seed === '' ? {} : { seed }) : { 'raw-data': data }
  await sendOne(event, commandOf(['send', type], flags))
}

async function sendOne(event: EventToSend, command: string): Promise<void> {
  let delivery: DeliveryView | undefined
  isSending.value = true
  await attempt(async () => {
    const { events } = await api<{ readonly events: readonly SentEvent[] }>('events', {
      method: 'POST',
      body: { events: [event] },
    })
    delivery = events[0]?.deliveries[0]
    return `Sent ${events[0]?.id}.`
  }, command)
  isSending.value = false
  if (delivery !== undefined && route.value.parts[0] === 'send') go(['deliveries', delivery.id])
}

import { signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Finding, FoundEvent, Whereabouts } from '../../../packages/dashboard/src/protocol/protocol.ts'
import { call } from '../kit/api.ts'
import { Badge, Field, type Tone } from '../kit/elements.tsx'
import { useKeys } from '../kit/keys.ts'
import { Ago } from '../kit/now.tsx'
import { hrefOf } from '../kit/route.ts'
import { formatCount, visible } from '../kit/text.ts'
import { EmulatorLink } from './emulator-link.tsx'
import { TraceFact } from './trace.tsx'

const isOpen = signal(false)
const text = signal('')
const finding = signal<{ readonly q: string; readonly found?: Finding; readonly error?: string } | undefined>(
  undefined,
)

/** Opens the box, which is on every page. */
export function FindButton() {
  return (
    <button type="button" class="plain find" onClick={() => (isOpen.value = true)}>
      Find an event <kbd>/</kbd>
    </button>
  )
}

/** Finds an event by its id, or by a value in its body. Ctrl K and `/` open it. */
export function FindBox({ traceUrl, emulatorUrl }: Omit<ResultProps, 'onLeave'>) {
  const dialog = useRef<HTMLDialogElement>(null)
  useKeys({ '/': () => (isOpen.value = true) }, { '/': 'finds an event, as does Ctrl K' })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return
      event.preventDefault()
      isOpen.value = true
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  useLayoutEffect(() => {
    if (isOpen.value && dialog.current?.open === false) dialog.current.showModal()
  }, [isOpen.value])
  if (!isOpen.value) return null
  const close = () => {
    dialog.current?.close()
    isOpen.value = false
  }
  return (
    <dialog
      ref={dialog}
      class="stack wide"
      aria-labelledby="find-title"
      onClose={() => (isOpen.value = false)}
    >
      <div class="bar">
        <h2 id="find-title">Find an event</h2>
        <button type="button" class="push" onClick={close}>
          Close
        </button>
      </div>
      <form
        method="dialog"
        onSubmit={event => {
          event.preventDefault()
          void search()
        }}
      >
        <Field label="Event id, or a value in its body: conversation, phone number, delivery or message id">
          <input
            type="search"
            name="q"
            autofocus
            autocomplete="off"
            value={text.value}
            onInput={event => {
              text.value = event.currentTarget.value
              if (text.value === '') finding.value = undefined
            }}
          />
        </Field>
      </form>
      <Result traceUrl={traceUrl} emulatorUrl={emulatorUrl} onLeave={close} />
    </dialog>
  )
}

async function search(): Promise<void> {
  const q = text.value.trim()
  if (q === '') return
  finding.value = { q }
  try {
    const found = await call<Finding>('api/find', { query: { q } })
    if (finding.value?.q === q) finding.value = { q, found }
  } catch (cause) {
    if (finding.value?.q === q)
      finding.value = { q, error: cause instanceof Error ? cause.message : String(cause) }
  }
}

interface ResultProps {
  readonly traceUrl: string | undefined
  readonly emulatorUrl: string | undefined
  readonly onLeave: () => void
}

function Result({ traceUrl, emulatorUrl, onLeave }: ResultProps) {
  if (finding.value === undefined) return null
  const { q, found, error } = finding.value
  if (error !== undefined)
    return (
      <p class="note bad" role="alert">
        {error}
      </p>
    )
  if (found === undefined) return <p class="quiet">Searching …</p>
  const { traceId } = found.exact
  const others = found.found.filter(({ key }) => key !== found.exact.key)
  const own = found.found.find(({ key }) => key === found.exact.key)
  return (
    <div class="stack tight" role="status">
      <p class="note">
        <span class="mono">{visible(q)}</span>{' '}
        {own === undefined && others.length > 0 && found.exact.state === 'unknown' ? (
          <>is a value of waiting or failed events, and no event's id.</>
        ) : (
          <>
            <Exact exact={found.exact} own={own} onLeave={onLeave} />{' '}
            {emulatorUrl !== undefined && (
              <EmulatorLink emulatorUrl={emulatorUrl} id={q}>
                Deliveries in the emulator
              </EmulatorLink>
            )}
          </>
        )}
      </p>
      {traceId !== undefined && <TraceFact id={traceId} url={traceUrl} />}
      <p class="small quiet">
        {others.length === 0 && 'No waiting or failed event has this value. '}
        The bodies of handled events are gone, so these are found by their id only. Searched:{' '}
        {formatCount(found.letters)} dead letters, {formatCount(found.waiting)} waiting and running events
        {found.isPartial ? '; there may be more.' : '.'}
      </p>
      {others.length > 0 && <h3>Waiting and failed events with this value</h3>}
      <ul class="timeline">
        {others.map(event => (
          <li key={event.key}>
            <FoundLink event={event} onLeave={onLeave} />{' '}
            <Badge tone={TONES[event.state]}>{event.state}</Badge>{' '}
            <span class="small quiet">
              {visible(event.type)}, received <Ago at={event.receivedAt} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}

const TONES: Readonly<Record<FoundEvent['state'], Tone>> = { pending: 'wait', active: 'wait', dead: 'bad' }

function Exact({
  exact,
  own,
  onLeave,
}: {
  readonly exact: Finding['exact']
  readonly own: FoundEvent | undefined
  readonly onLeave: () => void
}) {
  if (exact.state === 'handled' && exact.handledAt !== undefined)
    return (
      <>
        was handled: <Ago at={exact.handledAt} />.
      </>
    )
  if (own !== undefined)
    return (
      <>
        {SAID[exact.state]} <FoundLink event={own} onLeave={onLeave} label="Open it" />
      </>
    )
  return (
    <>
      {SAID[exact.state]}
      {exact.state === 'dead' && (
        <a href={hrefOf(['letters', exact.key])} onClick={onLeave}>
          Open it
        </a>
      )}
    </>
  )
}

const SAID: Readonly<Record<Whereabouts['state'], string>> = {
  handled: 'was handled.',
  pending: 'waits for its next attempt.',
  active: 'is being handled now.',
  dead: 'is a dead letter. ',
  unknown: 'is not the id of an event here: it never came, was discarded, or is no longer remembered.',
  gone: 'is handled, or not the id of an event here.',
  unclear: 'is no dead letter. This inbox cannot look up other events.',
}

function FoundLink({
  event: { key, id, state },
  onLeave,
  label = visible(id),
}: {
  readonly event: FoundEvent
  readonly onLeave: () => void
  readonly label?: string
}) {
  const href = state === 'dead' ? hrefOf(['letters', key]) : hrefOf([state], { id })
  return (
    <a class="mono" href={href} onClick={onLeave}>
      {label}
    </a>
  )
}

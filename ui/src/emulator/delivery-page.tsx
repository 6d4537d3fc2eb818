import { curlOfDelivery, isTestable, testOf } from '@ackhook/emulator/routes'
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import type {
  AttemptView as AttemptDetail,
  DeliveryDetail,
} from '../../../packages/emulator/src/api/delivery-view.ts'
import { ApiError, authorization } from '../kit/api.ts'
import { Badge, CopyButton, Source } from '../kit/elements.tsx'
import { Failure } from '../kit/failure.tsx'
import { Folded } from '../kit/folded.tsx'
import { JsonView } from '../kit/json-view.tsx'
import { Ago, distance } from '../kit/now.tsx'
import { useResource } from '../kit/resource.ts'
import { hrefOf } from '../kit/route.ts'
import { formatCount, visible } from '../kit/text.ts'
import { useTitle } from '../kit/title.ts'
import { attempt, download } from '../kit/toasts.tsx'
import { addressOf, api } from './api.ts'
import { AttemptView } from './attempt-view.tsx'
import { commandOf } from './command-of.ts'
import { emulatorNow } from './emulator-clock.ts'
import { foldAttempts, replyOf } from './fold-attempts.ts'
import { useNotices } from './live.ts'
import { replay, replayElsewhere } from './replay.ts'
import { STATES, wordsOf } from './states.ts'
import { Waterfall } from './waterfall.tsx'

export function DeliveryPage({ id }: { readonly id: string }) {
  const path = `deliveries/${encodeURIComponent(id)}`
  const delivery = useResource(signal => api<DeliveryDetail>(path, { signal }))
  useNotices(notice => {
    const { event, data } = notice
    if (event === 'gap' || (event === 'deliveries' && data.deliveries.some(one => one.id === id)))
      delivery.reload()
  })
  const error = delivery.error.value
  const data = delivery.data.value
  useTitle(visible(data?.event ?? ''))
  const isMissing = error instanceof ApiError && error.status === 404
  return (
    <>
      <p>
        <a href={hrefOf(['deliveries'])}>Deliveries</a>
      </p>
      {isMissing ? (
        <h1>Delivery not found</h1>
      ) : (
        <Failure error={error} retry={delivery.reload} isStale={data !== undefined} />
      )}
      {data === undefined ? (
        !isMissing && <h1 class="visually-hidden">Delivery</h1>
      ) : (
        <>
          <Actions delivery={data} path={path} />
          <Facts delivery={data} />
          <Share delivery={data} path={path} />
          <Waterfall delivery={data} />
          <Timeline delivery={data} />
          <Body delivery={data} path={path} />
        </>
      )}
    </>
  )
}

function Actions({ delivery, path }: { readonly delivery: DeliveryDetail; readonly path: string }) {
  const { id, event, state } = delivery
  const editing = useSignal(false)
  const post = (what: 'retry' | 'discard', said: string) =>
    void attempt(
      async () => {
        await api(`${path}/${what}`, { method: 'POST', body: {} })
        return said
      },
      commandOf([what, id]),
    )
  return (
    <>
      <div class="bar">
        <h1 class="mono">{visible(event)}</h1>
        <Badge tone={STATES[state]}>{state}</Badge>
        <div class="bar push">
          {state === 'pending' && (
            <button type="button" onClick={() => post('retry', 'The next attempt starts now.')}>
              Try now
            </button>
          )}
          {(state === 'pending' || state === 'undelivered') && (
            <button type="button" class="danger" onClick={() => post('discard', 'Discarded.')}>
              Discard
            </button>
          )}
          <button type="button" onClick={() => void replay(id, { mode: 'exact' })}>
            Replay exact request
          </button>
          <button type="button" onClick={() => void replayElsewhere(id)}>
            Replay elsewhere …
          </button>
          <button type="button" class="primary" onClick={() => void replay(id, {})}>
            Replay with new signature
          </button>
          <button
            type="button"
            aria-expanded={editing.value}
            onClick={() => (editing.value = !editing.value)}
          >
            Edit and send
          </button>
        </div>
      </div>
      {editing.value && <Editor delivery={delivery} />}
    </>
  )
}

function Editor({ delivery: { id, body } }: { readonly delivery: DeliveryDetail }) {
  const text = useSignal(body.text)
  const submit = (event: Event) => {
    event.preventDefault()
    void replay(id, { mode: 'edited', body: text.value })
  }
  return (
    <form class="panel" onSubmit={submit}>
      <label class="field">
        Event to send under a new id
        <textarea rows={10} value={text.value} onInput={event => (text.value = event.currentTarget.value)} />
      </label>
      <div>
        <button type="submit" class="primary">
          Send the edited event
        </button>
      </div>
    </form>
  )
}

function Facts({ delivery }: { readonly delivery: DeliveryDetail }) {
  const { id, type, guess, workspace, kind, origin, createdAt, reason, bytes, seq, arrival, to } = delivery
  const words = wordsOf(delivery)
  return (
    <dl class="facts">
      <dt>Delivery</dt>
      <dd class="mono">{id}</dd>
      <dt>Type</dt>
      <dd>
        {visible(type)} {guess && <Badge tone="idle">not published: a guess</Badge>}
      </dd>
      <dt>Workspace</dt>
      <dd>{visible(workspace)}</dd>
      {origin !== null && (
        <>
          <dt>{kind === 'replay' ? 'Replay of' : 'Duplicate of'}</dt>
          <dd>
            <a href={hrefOf(['deliveries', origin])} class="mono">
              {origin}
            </a>
          </dd>
        </>
      )}
      {words.length > 0 && (
        <>
          <dt>What happened</dt>
          <dd class="badges">
            {words.map(word => (
              <Badge key={word} tone="idle">
                {word}
              </Badge>
            ))}
          </dd>
        </>
      )}
      {to !== null && <dt>Sent to</dt>}
      {to !== null && <dd class="mono">{visible(to)}</dd>}
      <dt>Order</dt>
      <dd>
        {`created as number ${formatCount(seq)}, ${arrival === null ? 'not sent yet' : `arrived as number ${formatCount(arrival)}`}`}
      </dd>
      <dt>Created</dt>
      <dd>
        <Ago at={Date.parse(createdAt)} from={emulatorNow} />, {formatCount(bytes)} bytes
      </dd>
      {reason !== null && <dt>Reason</dt>}
      {reason !== null && <dd>{reason}</dd>}
    </dl>
  )
}

/** Equal attempts from this number on are folded, but for the last of them. */
const MANY = 3

function Timeline({ delivery }: { readonly delivery: DeliveryDetail }) {
  const { log, nextAttemptAt, state, underWay } = delivery
  const lastFailed = log.findLast(({ acknowledged }) => !acknowledged)
  const show = (one: AttemptDetail) => (
    <AttemptView
      key={one.number}
      attempt={one}
      previous={log[log.indexOf(one) - 1]}
      advise={log[log.indexOf(one) + 1]?.code !== one.code}
      open={one === lastFailed}
    />
  )
  return (
    <section class="stack" aria-labelledby="attempts">
      <h2 id="attempts">Attempts</h2>
      <ol class="timeline">
        {foldAttempts(log).flatMap(equal => {
          if (equal.length < MANY) return equal.map(show)
          const hidden = equal.slice(0, -1)
          return [
            <FoldedAttempts key={`from ${hidden[0]?.number}`} attempts={hidden}>
              {hidden.map(show)}
            </FoldedAttempts>,
            ...equal.slice(-1).map(show),
          ]
        })}
        {state === 'pending' && (
          <li class="wait">
            {underWay || nextAttemptAt === null
              ? 'An attempt is under way.'
              : `Attempt ${log.length + 1} ${distance(Date.parse(nextAttemptAt) - emulatorNow.value)}`}
          </li>
        )}
      </ol>
    </section>
  )
}

interface FoldedAttemptsProps {
  readonly attempts: readonly AttemptDetail[]
  readonly children: ComponentChildren
}

function FoldedAttempts({ attempts, children }: FoldedAttemptsProps) {
  const [first, last] = [attempts[0], attempts.at(-1)]
  if (first === undefined || last === undefined) return null
  const label = `Attempts ${first.number}–${last.number}: ${visible(replyOf(first)) || 'no reply'}`
  return (
    <li class={first.acknowledged ? 'good' : 'bad'}>
      <Folded label={label} always>
        <ol class="timeline">{children}</ol>
      </Folded>
    </li>
  )
}

/** Buttons for sharing: ids, the event, the exact request and equivalent commands. */
function Share({ delivery, path }: { readonly delivery: DeliveryDetail; readonly path: string }) {
  const { id, event, body, log } = delivery
  const save = () =>
    void attempt(
      async () => {
        const request = await api<object>(`${path}/request`)
        download(`${id}.json`, JSON.stringify(request, undefined, 2))
        return `Saved as ${id}.json for ackhook verify and ackhook send --from-file.`
      },
      commandOf(['show', id], { save: `${id}.json` }),
    )
  const hasTest = useMemo(() => isTestable(body), [body.text, body.base64])
  return (
    <div class="bar">
      <CopyButton label="Copy id" text={() => event} />
      <CopyButton label="Copy event" text={() => body.text} />
      <CopyButton label="Copy link" text={() => location.href} />
      <CopyButton label="Copy command" text={() => commandOf(['show', id])} />
      {log.length > 0 && <CopyButton label="Copy as cURL" text={() => curlOfDelivery(delivery) ?? ''} />}
      {hasTest && <CopyButton label="Copy as test" text={() => testOf(delivery) ?? ''} />}
      <button type="button" disabled={log.length === 0} onClick={save}>
        Save request
      </button>
    </div>
  )
}

function Body({ delivery, path }: { readonly delivery: DeliveryDetail; readonly path: string }) {
  const raw = useSignal(false)
  const { text } = delivery.body
  return (
    <section class="stack" aria-labelledby="event">
      <div class="bar">
        <h2 id="event">Event</h2>
        <div class="bar push">
          <button type="button" aria-pressed={raw.value} onClick={() => (raw.value = !raw.value)}>
            Exact bytes
          </button>
          {/* A link cannot send a token. */}
          {authorization()['authorization'] === undefined && (
            <a class="button" href={addressOf(`${path}/body`)} download>
              Download
            </a>
          )}
        </div>
      </div>
      {raw.value ? <Source label="Exact bytes" text={text} /> : <JsonView text={text} />}
    </section>
  )
}

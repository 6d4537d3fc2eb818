import type { ComponentChildren } from 'preact'
import type { AttemptView, DeliveryDetail } from '../../../packages/emulator/src/api/delivery-view.ts'
import type { ReceiverObservation, ReceiverView } from '../../../packages/emulator/src/api/receiver-view.ts'
import type { Tone } from '../kit/elements.tsx'
import { spanOf } from '../kit/now.tsx'
import { useResource } from '../kit/resource.ts'
import { visible } from '../kit/text.ts'
import { api } from './api.ts'
import { foldAttempts, replyOf } from './fold-attempts.ts'

/** A time on the axis, in milliseconds since the epoch. */
interface Span {
  readonly from: number
  readonly to: number
  readonly tone: Tone | 'planned' | 'queue'
}

interface Row {
  readonly label: ComponentChildren
  readonly detail: string
  readonly spans: readonly Span[]
}

const EVERY_MS = 5000

/** Shows an event on one axis of time: attempts, the waits between them, what is planned, and what the receiver did. */
export function Waterfall({ delivery }: { readonly delivery: DeliveryDetail }) {
  const path = `deliveries/${encodeURIComponent(delivery.id)}/receiver`
  const receiver = useResource(signal => api<ReceiverView>(path, { signal }), EVERY_MS)
  const view = receiver.data.value
  const rows = [
    ...foldAttempts(delivery.log).map(attemptRow),
    ...plannedRow(delivery),
    ...receiverRows(view?.observations ?? []),
  ]
  if (rows.length === 0) return null
  const spans = rows.flatMap(row => row.spans)
  const start = Math.min(Date.parse(delivery.createdAt), ...spans.map(({ from }) => from))
  const end = Math.max(start + 1, ...spans.map(({ to }) => to))
  return (
    <section class="stack tight" aria-labelledby="course">
      <div class="bar">
        <h2 id="course">Course</h2>
        <span class="small quiet">{spanOf(end - start)} from its creation</span>
        <Links view={view} delivery={delivery} />
      </div>
      <ol class="waterfall panel">
        {rows.map((row, index) => (
          <li key={index}>
            <span>{row.label}</span>
            <span class="track" aria-hidden="true">
              {row.spans.map(({ from, to, tone }, at) => (
                <i
                  key={at}
                  class={tone}
                  style={{
                    left: `${((from - start) / (end - start)) * 100}%`,
                    width: `${((to - from) / (end - start)) * 100}%`,
                  }}
                />
              ))}
            </span>
            <span class="small quiet number">{row.detail}</span>
          </li>
        ))}
      </ol>
      {view?.error !== null && view?.error !== undefined && (
        <p class="note wait">The receiver's dashboard could not be asked. {visible(view.error)}</p>
      )}
    </section>
  )
}

/** Links to the receiver's dashboard, and to the trace that a reply names. */
function Links({
  view,
  delivery,
}: {
  readonly view: ReceiverView | undefined
  readonly delivery: DeliveryDetail
}) {
  const trace = delivery.log.map(traceIdOf).findLast(id => id !== undefined)
  const template = view?.traceUrl ?? null
  return (
    <span class="bar push small">
      {view?.state !== null && view?.state !== undefined && (
        <span>In the receiver: {visible(view.state)}</span>
      )}
      {view?.href !== null && view?.href !== undefined && <a href={view.href}>Receiver's dashboard</a>}
      {trace !== undefined && template !== null && (
        <a href={template.replaceAll('{traceId}', trace)}>Trace</a>
      )}
      {trace !== undefined && template === null && <span class="mono">trace {trace}</span>}
    </span>
  )
}

/** Returns the trace id in a reply's `traceparent` or `traceresponse`. */
function traceIdOf({ replyHeaders }: AttemptView): string | undefined {
  const header = replyHeaders.find(([name]) => /^trace(parent|response)$/i.test(name))
  return /^[\da-f]{2}-([\da-f]{32})-/.exec(header?.[1] ?? '')?.[1]
}

function attemptRow(attempts: readonly AttemptView[]): Row {
  const [first, last] = [attempts[0], attempts.at(-1)]
  const which = first === last ? `Attempt ${first?.number}` : `Attempts ${first?.number}–${last?.number}`
  const took = attempts.map(({ durationMs }) => durationMs)
  const [least, most] = [Math.min(...took), Math.max(...took)]
  return {
    label: (
      <>
        {which} <span class="mono small">{first && visible(replyOf(first))}</span>
      </>
    ),
    detail: least === most ? spanOf(most) : `${spanOf(least)} to ${spanOf(most)}`,
    spans: attempts.map(({ at, durationMs, acknowledged }) => ({
      from: Date.parse(at),
      to: Date.parse(at) + durationMs,
      tone: acknowledged ? 'good' : 'bad',
    })),
  }
}

/** The next attempt on the axis, and the ones after it in words: they may be days away. */
function plannedRow({ planned, log }: DeliveryDetail): readonly Row[] {
  const [next, ...later] = planned.map(time => Date.parse(time))
  if (next === undefined) return []
  const before = log.at(-1)
  const waitsFrom = before === undefined ? next : Date.parse(before.at) + before.durationMs
  const last = later.at(-1)
  const more = last === undefined ? '' : `, then ${later.length} more within about ${spanOf(last - next)}`
  return [
    {
      label: `Planned: attempt ${log.length + 1}`,
      detail: `after ${spanOf(Math.max(0, next - waitsFrom))}${more}`,
      spans: [{ from: waitsFrom, to: next, tone: 'planned' }],
    },
  ]
}

/** The time in the receiver's queue, and each run of its handlers. */
function receiverRows(observations: readonly ReceiverObservation[]): readonly Row[] {
  const runs = observations.filter(({ kind }) => kind === 'completed' || kind === 'attempt_failed')
  const accepted = observations.find(({ kind }) => kind === 'accepted')
  const startOf = ({ at, durationMs }: ReceiverObservation) => Date.parse(at) - (durationMs ?? 0)
  const first = runs[0]
  const rows = runs.map((run): Row => {
    const { at, kind, attempt, durationMs } = run
    const isGood = kind === 'completed'
    return {
      label: `Handler${attempt === null ? '' : `, run ${attempt}`}: ${isGood ? 'done' : 'failed'}`,
      detail: durationMs === null ? '' : spanOf(durationMs),
      spans: [{ from: startOf(run), to: Date.parse(at), tone: isGood ? 'good' : 'bad' }],
    }
  })
  if (accepted === undefined || first === undefined) return rows
  const [from, to] = [Date.parse(accepted.at), Math.max(Date.parse(accepted.at), startOf(first))]
  return [
    { label: "In the receiver's queue", detail: spanOf(to - from), spans: [{ from, to, tone: 'queue' }] },
    ...rows,
  ]
}

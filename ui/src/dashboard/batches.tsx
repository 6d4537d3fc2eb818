import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { describeRedrive, type Outcome as Fates } from '../../../packages/dashboard/src/protocol/outcome.ts'
import type { Batch, BatchList, Role } from '../../../packages/dashboard/src/protocol/protocol.ts'
import { call } from '../kit/api.ts'
import { useResource } from '../kit/resource.ts'
import { hrefOf } from '../kit/route.ts'
import { formatCount, inOneLine, visible } from '../kit/text.ts'
import { toast } from '../kit/toasts.tsx'
import { Blocks } from './blocks.tsx'
import { forgetBatch, isDismissed, type KeptBatch, keepBatch, keptBatches } from './kept-batches.ts'
import { doVerb, isBatch } from './verbs.ts'

/** Batches of the process that replied last, and those started here. */
const known = signal<readonly Batch[]>([])
/** Time of the last reply with a batch, by id. */
const seenAt = new Map<string, number>()
/** A batch that no reply has for so long belongs to a process that has ended. */
const LOST_MS = 6000
const lost = signal<readonly KeptBatch[]>([])
const RUNNING_MS = 1000
const IDLE_MS = 4000
/** Results that nobody has dismissed are shown for so long. */
const SHOWN_MS = 12 * 3_600_000
const MOST_SHOWN = 3

/** Returns whether a batch is changing letters. The page starts no other one meanwhile. */
export function isBatchChanging(): boolean {
  return known.value.some(({ state }) => state === 'changing')
}

/** Changes whenever a batch has changed all its letters, or has followed them to their end. */
export const batchTurn: ReadonlySignal<string> = computed(() =>
  known.value
    .filter(({ state }) => state !== 'changing')
    .map(({ id, state }) => `${id} ${state}`)
    .join(),
)

/** Starts a verb in the process that serves this page. Returns whether it started. */
export async function startBatch(name: string, args: object): Promise<boolean> {
  try {
    const reply = await doVerb(name, args)
    if (isBatch(reply)) showBatch(reply, args)
    return true
  } catch (cause) {
    toast('bad', cause instanceof Error ? cause.message : String(cause))
    return false
  }
}

/** Shows a batch at once. With its arguments, it can be started again if its process ends. */
export function showBatch(batch: Batch, args?: object): void {
  known.value = [batch, ...known.peek().filter(({ id }) => id !== batch.id)]
  seenAt.set(batch.id, Date.now())
  if (args === undefined || batch.state === 'over') return
  // Letters that fail again are not started again with the rest.
  keepBatch({ batch, args: { failedBy: batch.startedAt, ...args } })
}

/** Shows the batches on every page, whoever started them. */
export function Batches({ role }: { readonly role: Role | undefined }) {
  const isRunning = known.value.some(({ state }) => state !== 'over')
  const list = useResource(
    signal => call<BatchList>('api/batches', { signal }),
    isRunning || keptBatches().length > 0 ? RUNNING_MS : IDLE_MS,
  )
  const { data } = list
  useEffect(() => {
    if (data.value !== undefined) receive(data.value)
  }, [data.value])
  const shown = known.value
    .filter(
      ({ id, startedAt, state }) =>
        !isDismissed(id) && (state !== 'over' || Date.now() - startedAt < SHOWN_MS),
    )
    .slice(0, MOST_SHOWN)
  return (
    <>
      {lost.value.map(one => (
        <LostBatch key={one.batch.id} kept={one} role={role} />
      ))}
      {shown.map(batch => (
        <BatchView key={batch.id} batch={batch} role={role} />
      ))}
    </>
  )
}

/** Compares a reply with the batches that were started in this browser. */
function receive({ process, batches }: BatchList): void {
  const now = Date.now()
  for (const { id } of batches) seenAt.set(id, now)
  const ids = new Set(batches.map(({ id }) => id))
  // Another process may serve the same address: its replies know nothing of this one's batches.
  known.value = [...batches, ...known.peek().filter(one => !ids.has(one.id) && one.process !== process)].sort(
    (a, b) => b.startedAt - a.startedAt,
  )
  for (const batch of batches) {
    const kept = keptBatches().find(one => one.batch.id === batch.id)
    if (kept === undefined) continue
    if (batch.state === 'over') forgetBatch(batch.id)
    else keepBatch({ ...kept, batch })
  }
  lost.value = keptBatches().filter(({ batch: { id, process: own } }) => {
    if (ids.has(id)) return false
    if (!seenAt.has(id)) seenAt.set(id, now)
    return own === process || now - (seenAt.get(id) ?? now) > LOST_MS
  })
  const gone = new Set(lost.value.map(({ batch }) => batch.id))
  known.value = known.peek().filter(({ id }) => !gone.has(id))
}

function BatchView({ batch, role }: { readonly batch: Batch; readonly role: Role | undefined }) {
  const { id, words, state, changed, missed, total = changed + missed, error, isStopped, by, fates } = batch
  const title = words.doing
  const canStop = state !== 'over' && isStopped !== true && role === 'admin'
  return (
    <div class={`note batch ${toneOf(batch)}`} role="status">
      <div class="bar">
        {state === 'changing' && (
          <>
            <span>
              {title}: {formatCount(changed + missed)} of {formatCount(Math.max(total, changed + missed))}
            </span>
            <progress aria-label={title} max={Math.max(1, total)} value={changed + missed} />
          </>
        )}
        <span>{state === 'changing' && fates === undefined ? '' : resultOf(batch)}</span>
        {by !== undefined && <span class="small quiet">by {visible(by)}</span>}
        <span class="push" />
        {canStop && (
          <button type="button" onClick={() => void stop(id)}>
            {state === 'changing' ? 'Stop' : 'Stop following'}
          </button>
        )}
        {state === 'over' && (
          <button type="button" class="plain" onClick={() => dismiss(id)}>
            Dismiss
          </button>
        )}
      </div>
      {error !== undefined && (
        <p class="wrong">
          {inOneLine(error)} {state !== 'over' && 'It tries again.'}
        </p>
      )}
      {fates !== undefined && <Errors fates={fates} />}
      {words.thing === undefined && batch.outcome !== undefined && <Blocks blocks={batch.outcome.blocks} />}
    </div>
  )
}

/** Red while an event has failed again, yellow while one may still fail. */
function toneOf({ state, missed, fates, error, isStopped }: Batch): string {
  if ((fates?.failed ?? 0) > 0 || (state === 'over' && error !== undefined)) return 'bad'
  const { waiting = 0, retrying = 0, gone = 0 } = fates ?? {}
  if (state !== 'over' || isStopped === true || missed + waiting + retrying + gone > 0) return 'wait'
  return 'good'
}

function resultOf({ words, changed, missed, state, fates, outcome, isStopped }: Batch): string {
  const stopped = isStopped === true ? 'Stopped. ' : ''
  const rest = missed === 0 ? '' : ` ${formatCount(missed)} not ${words.done}${reasonsIn(outcome)}.`
  if (fates !== undefined)
    return `${stopped}${describeRedrive({ changed, outcome: fates, isOver: state === 'over' })}${rest}`
  // A verb that changes no single things says its result itself.
  if (words.thing === undefined) return stopped
  const things = changed === 1 ? words.thing : `${words.thing}s`
  return `${stopped}${formatCount(changed)} ${things} ${words.done}.${rest}`
}

function reasonsIn(outcome: Batch['outcome']): string {
  const { refusals = [] } = (outcome?.data ?? {}) as {
    readonly refusals?: readonly { readonly reason: string }[]
  }
  return refusals.length === 0 ? '' : `: ${inOneLine(refusals.map(({ reason }) => reason).join(', '))}`
}

function Errors({ fates: { errors } }: { readonly fates: Fates }) {
  if (errors.length === 0) return null
  return (
    <ul class="plain-list small">
      {errors.map(({ group, count, reason }) => (
        <li key={group}>
          {formatCount(count)} ×{' '}
          <a class="mono" href={hrefOf(['letters'], { group })}>
            {reason === '' ? 'no error text' : inOneLine(reason)}
          </a>
        </li>
      ))}
    </ul>
  )
}

async function stop(id: string): Promise<void> {
  try {
    showBatch(await call<Batch>(`api/batches/${id}/stop`, { method: 'POST', body: {} }))
  } catch (cause) {
    toast('bad', cause instanceof Error ? cause.message : String(cause))
  }
}

function dismiss(id: string): void {
  forgetBatch(id, true)
  known.value = [...known.peek()]
}

/** A batch whose process has ended: the letters it had not reached are still there. */
function LostBatch({ kept, role }: { readonly kept: KeptBatch; readonly role: Role | undefined }) {
  const { batch, args } = kept
  const { id, verb, words, changed, total } = batch
  const left = useResource(signal => countLeft(verb, args, signal))
  const count = left.data.value
  const end = () => {
    forgetBatch(id, true)
    lost.value = lost.peek().filter(one => one !== kept)
  }
  const again = async () => {
    if (count !== undefined && (await startBatch(verb, { ...args, total: count }))) end()
  }
  return (
    <div class="note batch bad" role="status">
      <div class="bar">
        <span>
          The process of this batch has ended, or does not reply: {formatCount(changed)}
          {total !== undefined && ` of ${formatCount(total)}`} were {words.done} when it was last seen.{' '}
          {count === undefined
            ? (left.error.value?.message ?? 'Counting what is left …')
            : count === 0
              ? 'No letter is left.'
              : `${formatCount(count)} of its letters are still there.`}
        </span>
        <span class="push" />
        {role === 'admin' && count !== undefined && count > 0 && (
          <button type="button" onClick={() => void again()}>
            {words.label} the {formatCount(count)} left
          </button>
        )}
        <button type="button" class="plain" onClick={end}>
          Dismiss
        </button>
      </div>
    </div>
  )
}

/** Counts what a verb would change. Each request counts for a limited time. */
export async function countLeft(
  verb: string,
  args: object,
  signal: AbortSignal,
  progress: (count: number) => void = () => {},
): Promise<number> {
  let count = 0
  let after: string | undefined
  do {
    const body = { ...args, dryRun: true, ...(after !== undefined && { after }) }
    const { data } = await call<{ data: Counted }>(`api/verbs/${verb}`, { method: 'POST', body, signal })
    count += data.matched
    after = data.next
    progress(count)
  } while (after !== undefined && !signal.aborted)
  return count
}

interface Counted {
  readonly matched: number
  /** Where the count goes on. */
  readonly next?: string
}

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { BatchView } from '../../../packages/emulator/src/api/emulator-api.ts'
import type { BatchOptions } from '../../../packages/emulator/src/shapes/requests.ts'
import { useResource } from '../kit/resource.ts'
import { hrefOf } from '../kit/route.ts'
import { formatCount, visible } from '../kit/text.ts'
import { attempt } from '../kit/toasts.tsx'
import { api } from './api.ts'
import { emulatorNow } from './emulator-clock.ts'
import { useNotices } from './live.ts'

const EVERY_MS = 1000
const HOUR_MS = 3_600_000
const DISMISSED = 'ackhook-batches-read'

/** Starts a batch in the emulator's process. Returns whether it was accepted. */
export function startBatch(options: BatchOptions): Promise<boolean> {
  return attempt(async () => {
    await api('batches', { method: 'POST', body: options })
    return ''
  })
}

/** Shows each batch, on every page, until it has ended and somebody has read its result. */
export function BatchNotes() {
  const isActive = useSignal(false)
  const read = useSignal<readonly string[]>(JSON.parse(localStorage.getItem(DISMISSED) ?? '[]') as string[])
  const batches = useResource(
    signal => api<{ readonly batches: readonly BatchView[] }>('batches', { signal }),
    isActive.value ? EVERY_MS : undefined,
  )
  useNotices(({ event }) => {
    if (event === 'batch' || event === 'reset' || event === 'gap') batches.reload()
  })
  const all = batches.data.value?.batches ?? []
  const anyOpen = all.some(isOpen)
  useEffect(() => {
    isActive.value = anyOpen
  }, [anyOpen])
  const dismiss = (id: string) => {
    const known = new Set(all.map(one => one.id))
    read.value = [...read.peek().filter(one => known.has(one)), id]
    localStorage.setItem(DISMISSED, JSON.stringify(read.peek()))
  }
  const isRecent = ({ endedAt }: BatchView) =>
    endedAt !== null && emulatorNow.peek() - Date.parse(endedAt) < HOUR_MS
  const shown = all.filter(one => isOpen(one) || (isRecent(one) && !read.value.includes(one.id)))
  return (
    <>
      {shown.map(one => (
        <BatchNote key={one.id} batch={one} dismiss={() => dismiss(one.id)} />
      ))}
    </>
  )
}

function isOpen({ state, waiting }: BatchView): boolean {
  return state === 'running' || (state === 'done' && waiting > 0)
}

function BatchNote({ batch, dismiss }: { readonly batch: BatchView; readonly dismiss: () => void }) {
  const { id, state, done, total } = batch
  const stop = () =>
    void attempt(async () => {
      await api(`batches/${encodeURIComponent(id)}/stop`, { method: 'POST', body: {} })
      return ''
    })
  const isRunning = state === 'running'
  const tone = isOpen(batch) ? 'wait' : isGood(batch) ? 'good' : 'bad'
  return (
    <div class={`note bar ${tone}`} role="status">
      <span>
        {textOf(batch)}
        {batch.about !== '' && <span class="quiet small mono"> {visible(batch.about)}</span>}
      </span>
      <span class="bar push">
        {isRunning && <progress aria-label={textOf(batch)} max={total} value={done} />}
        {batch.batch !== null && done > 0 && (
          <a href={hrefOf(['deliveries'], { batch: batch.batch })}>Show them</a>
        )}
        {isRunning ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button type="button" class="plain" aria-label="Dismiss" onClick={dismiss}>
            ×
          </button>
        )}
      </span>
    </div>
  )
}

function isGood({ state, failures }: BatchView): boolean {
  return state === 'done' && failures.length === 0
}

const DOING = { replay: 'Replaying', discard: 'Discarding', send: 'Sending' } as const

/** Says what a batch does, or what became of it: `80 events replayed: 78 acknowledged, 2 × 500 handler_failed.` */
function textOf(batch: BatchView): string {
  const { action, state, done, total, error } = batch
  if (state === 'running') return `${DOING[action]} ${formatCount(done)} of ${countOf(total)}`
  const before = state === 'stopped' ? `Stopped after ${formatCount(done)} of ${formatCount(total)}. ` : ''
  const result = resultOf(batch)
  const what = action === 'send' ? `Sent ${countOf(done)}` : `${countOf(done)} ${action}${PAST[action]}`
  const text = `${before}${what}${result === '' ? '' : `: ${result}`}.`
  return error === null ? text : `${text} Then it failed: ${error}. The rest can be started again.`
}

const PAST = { replay: 'ed', discard: 'ed' } as const
const MAX_REASONS = 3

function resultOf({ acknowledged, waiting, failures, batch }: BatchView): string {
  if (batch === null) return ''
  const reasons = failures
    .slice(0, MAX_REASONS)
    .map(({ reply, count }) => `${formatCount(count)} failed (${visible(reply)})`)
  const more = failures.slice(MAX_REASONS).reduce((sum, { count }) => sum + count, 0)
  return [
    ...(acknowledged > 0 ? [`${formatCount(acknowledged)} acknowledged`] : []),
    ...reasons,
    ...(more > 0 ? [`${formatCount(more)} otherwise`] : []),
    ...(waiting > 0 ? [`${formatCount(waiting)} without a reply yet`] : []),
  ].join(', ')
}

export function countOf(count: number): string {
  return count === 1 ? '1 event' : `${formatCount(count)} events`
}

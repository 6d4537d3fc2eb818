import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import { OneStream, type StreamEvent } from './one-stream.ts'

/** Notice from the emulator's stream. After `gap`, changes were missed and the page must reload its data. */
export type Notice =
  | { readonly event: 'deliveries'; readonly data: { readonly deliveries: readonly DeliveryView[] } }
  | {
      readonly event: 'gap' | 'reset' | 'message' | 'endpoint' | 'health' | 'faults' | 'clock' | 'batch'
      readonly data: unknown
    }

/** `true` while the stream is open, in this tab or in another one. */
export const connected = signal(false)

const listeners = new Set<(notice: Notice) => void>()
const stream = new OneStream(take)
/** Position at which this tab began to hear of changes. */
let begin: string | undefined
/** Positions of replies received before that. */
const early = new Set<string>()

/** Calls `listener` for every notice while the component is mounted. */
export function useNotices(listener: (notice: Notice) => void): void {
  const latest = useRef(listener)
  latest.current = listener
  // Runs in the commit that sends the page's request, so that no change after its reply is missed.
  useLayoutEffect(() => {
    const call = (notice: Notice) => latest.current(notice)
    listeners.add(call)
    stream.start()
    return () => void listeners.delete(call)
  }, [])
}

/**
 * Call it before sending a request, and the returned function with the reply's headers. It reports a gap if changes
 * between the reply and the opening of the stream were missed.
 */
export function watchForChanges(): (headers: Headers) => void {
  const isEarly = begin === undefined
  return headers => {
    const position = headers.get('x-emulator-position')
    if (!isEarly || position === null) return
    if (begin === undefined) early.add(position)
    else if (position !== begin) tell({ event: 'gap', data: {} })
  }
}

function take({ event, id, data }: StreamEvent): void {
  if (event === 'lost') connected.value = false
  else if (event !== 'open') tell({ event, data: JSON.parse(data) } as Notice)
  else {
    connected.value = true
    begin ??= id
    if ([...early].some(position => position !== begin)) tell({ event: 'gap', data: {} })
    early.clear()
  }
}

function tell(notice: Notice): void {
  for (const listener of [...listeners]) listener(notice)
}

import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import { authorization } from '../kit/api.ts'
import { addressOf } from './address-of.ts'

/** Notice from the emulator's stream. After `gap`, changes were missed and the page must reload its data. */
export type Notice =
  | { readonly event: 'deliveries'; readonly data: { readonly deliveries: readonly DeliveryView[] } }
  | {
      readonly event: 'gap' | 'reset' | 'message' | 'endpoint' | 'health' | 'faults' | 'clock'
      readonly data: unknown
    }

const RETRY_MS = 1000

/** `true` while the stream is open. */
export const connected = signal(false)

const listeners = new Set<(notice: Notice) => void>()
let running = false
/** Position at which the stream began. */
let begin: string | undefined
/** Positions of replies received before the stream opened. */
const early = new Set<string>()
let lastId: string | undefined

/** Calls `listener` for every notice while the component is mounted. */
export function useNotices(listener: (notice: Notice) => void): void {
  const latest = useRef(listener)
  latest.current = listener
  // Runs in the commit that sends the page's request, so that no change after its reply is missed.
  useLayoutEffect(() => {
    const call = (notice: Notice) => latest.current(notice)
    listeners.add(call)
    if (!running) void follow()
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

/** Follows the page's one stream, with `fetch` because an `EventSource` cannot send a token. */
async function follow(): Promise<void> {
  running = true
  for (;;) {
    try {
      const headers = { ...authorization(), ...(lastId !== undefined && { 'last-event-id': lastId }) }
      const reply = await fetch(addressOf('stream'), { headers })
      if (reply.ok && reply.body !== null) await read(reply.body)
    } catch {}
    connected.value = false
    await new Promise(resolve => setTimeout(resolve, RETRY_MS))
  }
}

async function read(body: ReadableStream<Uint8Array>): Promise<void> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const blocks = (text + value).split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) take(block)
  }
}

function take(block: string): void {
  const fields = new Map(
    block.split('\n').flatMap(line => {
      const at = line.indexOf(': ')
      return at > 0 ? [[line.slice(0, at), line.slice(at + 2)] as const] : []
    }),
  )
  const event = fields.get('event')
  if (event === undefined) return
  lastId = fields.get('id') ?? lastId
  if (event !== 'open') tell({ event, data: JSON.parse(fields.get('data') ?? '{}') } as Notice)
  else {
    begin ??= lastId
    if ([...early].some(position => position !== begin)) tell({ event: 'gap', data: {} })
    early.clear()
    connected.value = true
  }
}

function tell(notice: Notice): void {
  for (const listener of [...listeners]) listener(notice)
}

import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import { authorization } from '../kit/api.ts'
import { addressOf } from './api.ts'

/** What the emulator says while the page is open. `gap`: changes were missed, read again. */
export type Notice =
  | { readonly event: 'deliveries'; readonly data: { readonly deliveries: readonly DeliveryView[] } }
  | {
      readonly event: 'gap' | 'reset' | 'message' | 'endpoint' | 'health' | 'faults' | 'clock'
      readonly data: unknown
    }

const RETRY_MS = 1000

/** Whether the stream is open. */
export const connected = signal(false)

const listeners = new Set<(notice: Notice) => void>()
let running = false
let hasFollowed = false
let lastId: string | undefined

/** Calls `listener` for every notice while the component is there. */
export function useNotices(listener: (notice: Notice) => void): void {
  const latest = useRef(listener)
  latest.current = listener
  useEffect(() => {
    const call = (notice: Notice) => latest.current(notice)
    listeners.add(call)
    if (!running) void follow()
    return () => void listeners.delete(call)
  }, [])
}

/** One stream for the page. Read by `fetch`, because an `EventSource` cannot send a token. */
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
    // What was read before the stream opened may have changed in between.
    if (!hasFollowed) tell({ event: 'gap', data: {} })
    hasFollowed = true
    connected.value = true
  }
}

function tell(notice: Notice): void {
  for (const listener of [...listeners]) listener(notice)
}

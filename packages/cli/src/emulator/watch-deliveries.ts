import type { DeliveryView } from '@ackhook/emulator'
import type { Terminal } from '../terminal/terminal.ts'
import { callHeaders } from './client.ts'

/** Callbacks for an emulator's stream. */
export interface Watcher {
  /** Called after an attempt, and for a delivery that was given up. */
  delivery(delivery: DeliveryView): void
  /** Called when an endpoint's health changes; `reason` is null if it is healthy again. */
  health(workspace: string, reason: string | null): void
  /** Called if deliveries were left out because too many changed at once. */
  gap(): void
}

/** Reports until the emulator ends, or until Ctrl-C. Never rejects. */
export async function watchDeliveries(url: string, watcher: Watcher, { env, stop }: Terminal): Promise<void> {
  const attempts = new Map<string, number>()
  try {
    const stream = await fetch(`${url}/_emulator/v1/stream`, { headers: callHeaders(env), signal: stop })
    for await (const { event, data } of eventsOf(stream)) {
      if (event === 'gap') watcher.gap()
      else if (event === 'health') watcher.health(data.workspace ?? '', data.reason ?? null)
      else if (event === 'deliveries') {
        for (const one of data.deliveries ?? []) if (isNews(one, attempts)) watcher.delivery(one)
      }
    }
  } catch {
    // The stream ended or was aborted.
  }
}

/** Reports each attempt once, and forgets deliveries that have ended. */
function isNews({ id, attempts, state, underWay }: DeliveryView, reported: Map<string, number>): boolean {
  if (underWay || (state === 'pending' && attempts === (reported.get(id) ?? 0))) return false
  if (state === 'pending') reported.set(id, attempts)
  else reported.delete(id)
  return state !== 'replayed'
}

interface StreamEvent {
  readonly event: string | undefined
  readonly data: {
    readonly deliveries?: readonly DeliveryView[]
    readonly workspace?: string
    readonly reason?: string | null
  }
}

async function* eventsOf({ body }: Response): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const [, event] = /^event: (.*)$/m.exec(block) ?? []
      const [, data] = /^data: (.*)$/m.exec(block) ?? []
      if (data !== undefined) yield { event, data: JSON.parse(data) }
    }
  }
}

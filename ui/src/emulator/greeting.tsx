import { useSignal } from '@preact/signals'
import type { WorkspaceView } from '../../../packages/emulator/src/api/emulator-api.ts'
import { Badge, CopyButton } from '../kit/elements.tsx'
import { useResource } from '../kit/resource.ts'
import { hrefOf } from '../kit/route.ts'
import { visible } from '../kit/text.ts'
import { attempt } from '../kit/toasts.tsx'
import { api } from './api.ts'
import { commandOf } from './command-of.ts'
import { useNotices } from './live.ts'

const TYPE = 'conversation.resolved'

/** Greets with the one thing to do next: an address to set, or an event to send. */
export function Greeting() {
  const workspaces = useResource(signal =>
    api<{ readonly workspaces: readonly WorkspaceView[] }>('workspaces', { signal }),
  )
  useNotices(({ event }) => {
    if (event === 'endpoint' || event === 'health') workspaces.reload()
  })
  const isSending = useSignal(false)
  const command = commandOf(['send', TYPE])
  const send = async () => {
    isSending.value = true
    await attempt(async () => {
      await api('events', { method: 'POST', body: { events: [{ type: TYPE }] } })
      return 'Sent one.'
    }, command)
    isSending.value = false
  }
  const endpoint = workspaces.data.value?.workspaces[0]?.endpoint
  return (
    <>
      <h2>No deliveries yet</h2>
      {endpoint === null && (
        <p>
          <Badge tone="wait">no endpoint</Badge> Events are skipped until you{' '}
          <a href={hrefOf(['endpoint'])}>set your app's address</a>.
        </p>
      )}
      {endpoint !== undefined && endpoint !== null && (
        <p>
          {endpoint.paused ? <Badge tone="wait">paused</Badge> : <Badge tone="good">ready</Badge>} Events go
          to <a href={hrefOf(['endpoint'])}>{visible(endpoint.url)}</a>
        </p>
      )}
      <div class="bar">
        <button type="button" class="primary" disabled={isSending.value} onClick={() => void send()}>
          Send one
        </button>
        <a class="button" href={hrefOf(['send'])}>
          Choose what to send
        </a>
      </div>
      <p class="small quiet">
        In a terminal: <code>{command}</code> <CopyButton label="Copy" text={() => command} />
      </p>
    </>
  )
}

import { useSignal } from '@preact/signals'
import type { EmulatorHealth } from '../../../packages/emulator/src/api/emulator-api.ts'
import { ApiError, setToken } from '../kit/api.ts'
import { Badge } from '../kit/badge.tsx'
import { Failure } from '../kit/failure.tsx'
import { Field } from '../kit/field.tsx'
import { type Resource, useResource } from '../kit/resource.ts'
import { route } from '../kit/route.ts'
import { Shell } from '../kit/shell.tsx'
import { api } from './api.ts'
import { DeliveriesPage } from './deliveries-page.tsx'
import { DeliveryPage } from './delivery-page.tsx'
import { setEmulatorTime } from './emulator-clock.ts'
import { EndpointPage } from './endpoint-page.tsx'
import { periodHere } from './filters.tsx'
import { connected, useNotices } from './live.ts'
import { MessagesPage } from './messages-page.tsx'
import { SendPage } from './send-page.tsx'
import { SettingsPage } from './settings-page.tsx'
import { UndeliveredPage } from './undelivered-page.tsx'

const EVERY_MS = 2000

export function Emulator() {
  const health = useResource(async signal => {
    const found = await api<EmulatorHealth>('health', { signal })
    setEmulatorTime(found.now)
    return found
  }, EVERY_MS)
  useNotices(({ event }) => {
    if (event !== 'deliveries') health.reload()
  })
  const error = health.error.value
  const data = health.data.value
  // The page asks for its list while this is under way. Only a period counts from the emulator's time.
  const canShow = data !== undefined || (error === undefined && periodHere() === undefined)
  return (
    <Shell
      brand="emulator"
      places={[
        { path: 'deliveries', label: 'Deliveries' },
        { path: 'undelivered', label: 'Undelivered', count: data?.counts.undelivered ?? 0 },
        { path: 'endpoint', label: 'Endpoint' },
        { path: 'send', label: 'Send' },
        { path: 'messages', label: 'Messages' },
        { path: 'settings', label: 'Settings' },
      ]}
      foot={<Foot health={health} />}
    >
      {error instanceof ApiError && error.status === 401 ? (
        <TokenForm onToken={health.reload} />
      ) : (
        <Failure error={error} retry={health.reload} />
      )}
      {data?.warnings.map(warning => (
        <p key={warning} class="note wait" role="status">
          {warning}
        </p>
      ))}
      {canShow && <Page />}
    </Shell>
  )
}

function Foot({ health }: { readonly health: Resource<EmulatorHealth> }) {
  return (
    <>
      <Badge tone={connected.value ? 'good' : 'wait'}>{connected.value ? 'live' : 'connecting'}</Badge>
      <div>{health.data.value?.version}</div>
      <div>Not the platform: a stand-in. What it has not published is a guess, and marked.</div>
    </>
  )
}

function Page() {
  const [place = 'deliveries', id] = route.value.parts
  if (place === 'deliveries' && id !== undefined) return <DeliveryPage key={id} id={id} />
  if (place === 'undelivered') return <UndeliveredPage />
  if (place === 'endpoint') return <EndpointPage />
  if (place === 'send') return <SendPage />
  if (place === 'messages') return <MessagesPage />
  if (place === 'settings') return <SettingsPage />
  return <DeliveriesPage />
}

function TokenForm({ onToken }: { readonly onToken: () => void }) {
  const token = useSignal('')
  const submit = (event: Event) => {
    event.preventDefault()
    setToken(token.value)
    onToken()
  }
  return (
    <form class="fields" onSubmit={submit}>
      <Field label="This emulator asks for its token">
        <input
          type="password"
          value={token.value}
          onInput={event => (token.value = event.currentTarget.value)}
        />
      </Field>
      <button type="submit" class="primary">
        Continue
      </button>
    </form>
  )
}

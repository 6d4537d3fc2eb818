import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { EmulatorHealth } from '../../../packages/emulator/src/api/emulator-api.ts'
import { ApiError, setToken } from '../kit/api.ts'
import { Badge, Field } from '../kit/elements.tsx'
import { Failure } from '../kit/failure.tsx'
import { lazy } from '../kit/lazy.tsx'
import { type Resource, useResource } from '../kit/resource.ts'
import { route } from '../kit/route.ts'
import { Shell } from '../kit/shell.tsx'
import { ActiveFaults, type Faults, useFaults } from './active-faults.tsx'
import { api } from './api.ts'
import { BatchNotes } from './batches.tsx'
import { DeliveriesPage } from './deliveries-page.tsx'
import { DeliveryPage } from './delivery-page.tsx'
import { setEmulatorTime } from './emulator-clock.ts'
import { periodHere } from './filters.tsx'
import { connected, useNotices } from './live.ts'
import { UndeliveredPage } from './undelivered-page.tsx'

const EVERY_MS = 2000

const EndpointPage = lazy(async () => (await import('./endpoint-page.tsx')).EndpointPage)
const FaultsPage = lazy(async () => (await import('./faults-page.tsx')).FaultsPage)
const MessagesPage = lazy(async () => (await import('./messages-page.tsx')).MessagesPage)
const SendPage = lazy(async () => (await import('./send-page.tsx')).SendPage)
const SettingsPage = lazy(async () => (await import('./settings-page.tsx')).SettingsPage)

export function Emulator() {
  const health = useResource(async signal => {
    const found = await api<EmulatorHealth>('health', { signal })
    setEmulatorTime(found.now)
    return found
  }, EVERY_MS)
  useNotices(({ event }) => {
    if (event !== 'deliveries' && event !== 'batch') health.reload()
  })
  const faults = useFaults()
  const error = health.error.value
  const data = health.data.value
  useEffect(() => {
    // The faults were refused before the token was entered.
    if (data !== undefined && faults.error.peek() !== undefined) faults.reload()
  }, [data])
  // The page loads its list in parallel, unless a period needs the emulator's time.
  const canShow = data !== undefined || (error === undefined && periodHere() === undefined)
  return (
    <Shell
      brand="emulator"
      places={[
        { path: 'deliveries', label: 'Deliveries' },
        { path: 'undelivered', label: 'Undelivered', count: data?.counts.undelivered ?? 0 },
        { path: 'endpoint', label: 'Endpoint' },
        { path: 'send', label: 'Send' },
        { path: 'faults', label: 'Faults' },
        { path: 'messages', label: 'Messages' },
        { path: 'settings', label: 'Settings' },
      ]}
      foot={<Foot health={health} />}
    >
      {error instanceof ApiError && error.status === 401 ? (
        <TokenForm health={health} />
      ) : (
        <Failure error={error} retry={health.reload} isStale={data !== undefined} />
      )}
      {data?.warnings.map(warning => (
        <p key={warning} class="note wait" role="status">
          {warning}
        </p>
      ))}
      <ActiveFaults faults={faults} />
      {data !== undefined && <BatchNotes />}
      {canShow ? <Page faults={faults} /> : <h1 class="visually-hidden">Emulator</h1>}
    </Shell>
  )
}

function Foot({ health }: { readonly health: Resource<EmulatorHealth> }) {
  return (
    <>
      <Badge tone={connected.value ? 'good' : 'wait'}>{connected.value ? 'live' : 'connecting'}</Badge>
      <div>{health.data.value?.version}</div>
      <div>An emulator, not the platform. Unpublished behavior is a guess, and marked as one.</div>
    </>
  )
}

function Page({ faults }: { readonly faults: Resource<Faults> }) {
  const [place = 'deliveries', id] = route.value.parts
  if (place === 'deliveries' && id !== undefined) return <DeliveryPage key={id} id={id} />
  if (place === 'undelivered') return <UndeliveredPage />
  if (place === 'endpoint') return <EndpointPage />
  if (place === 'send') return <SendPage />
  if (place === 'faults') return <FaultsPage faults={faults} />
  if (place === 'messages') return <MessagesPage />
  if (place === 'settings') return <SettingsPage />
  return <DeliveriesPage />
}

function TokenForm({ health }: { readonly health: Resource<EmulatorHealth> }) {
  const token = useSignal('')
  const refused = useSignal<Error | undefined>(undefined)
  const error = health.error.value
  const submit = (event: Event) => {
    event.preventDefault()
    setToken(token.value)
    refused.value = error
    health.reload()
  }
  return (
    <form class="fields" onSubmit={submit}>
      <Field label="This emulator requires its token">
        <input
          type="password"
          required
          value={token.value}
          aria-describedby="token-hint"
          onInput={event => (token.value = event.currentTarget.value)}
        />
      </Field>
      <button type="submit" class="primary">
        Continue
      </button>
      {/* Shown for a refusal after a token was entered. */}
      <p id="token-hint" class="wrong" role="alert">
        {refused.value !== undefined && error !== refused.value && 'This token is wrong.'}
      </p>
    </form>
  )
}

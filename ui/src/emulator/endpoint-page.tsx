import { type Signal, useSignal } from '@preact/signals'
import type { EndpointResult, WorkspaceView } from '../../../packages/emulator/src/api/emulator-api.ts'
import type { EndpointView } from '../../../packages/emulator/src/endpoints/endpoint-view.ts'
import { confirm } from '../kit/confirm.tsx'
import { Badge, CopyButton, Field } from '../kit/elements.tsx'
import { Failure } from '../kit/failure.tsx'
import { Ago } from '../kit/now.tsx'
import { useResource } from '../kit/resource.ts'
import { hrefOf, route } from '../kit/route.ts'
import { attempt } from '../kit/toasts.tsx'
import { api } from './api.ts'
import { emulatorNow } from './emulator-clock.ts'
import { useNotices } from './live.ts'

const DEFAULT = 'default'

/** Shows a workspace's endpoint. */
export function EndpointPage() {
  const workspaces = useResource(signal =>
    api<{ workspaces: readonly WorkspaceView[] }>('workspaces', { signal }),
  )
  useNotices(({ event }) => {
    if (event === 'endpoint' || event === 'health' || event === 'reset' || event === 'gap')
      workspaces.reload()
  })
  const all = workspaces.data.value?.workspaces ?? []
  const id = route.value.parts[1] ?? DEFAULT
  const workspace = all.find(one => one.id === id)
  return (
    <>
      <h1>Endpoint</h1>
      <Failure error={workspaces.error.value} retry={workspaces.reload} />
      {all.length > 1 && (
        <nav class="tabs" aria-label="Workspaces">
          {all.map(one => (
            <a
              key={one.id}
              href={hrefOf(['endpoint', one.id])}
              aria-current={one.id === id ? 'page' : undefined}
            >
              {one.id}
            </a>
          ))}
        </nav>
      )}
      {workspaces.data.value !== undefined && (
        <Endpoint
          key={id}
          workspace={id}
          endpoint={workspace?.endpoint ?? undefined}
          reload={workspaces.reload}
        />
      )}
      <NewWorkspace reload={workspaces.reload} />
    </>
  )
}

interface EndpointProps {
  readonly workspace: string
  readonly endpoint: EndpointView | undefined
  readonly reload: () => void
}

function Endpoint({ workspace, endpoint, reload }: EndpointProps) {
  const path = `workspaces/${encodeURIComponent(workspace)}/endpoint`
  const secret = useSignal<string | null>(null)
  const change = (method: 'PUT' | 'POST' | 'DELETE', to: string, body: object, said: string) =>
    attempt(async () => {
      const result = await api<Partial<EndpointResult> | undefined>(to, { method, body })
      if (typeof result?.secret === 'string' && 'endpoint' in result) secret.value = result.secret
      reload()
      return said
    })
  return (
    <>
      {endpoint !== undefined && <Health endpoint={endpoint} />}
      {endpoint === undefined && (
        <p class="note">This workspace has no endpoint. Its events are skipped until you set an address.</p>
      )}
      <Secret secret={secret} />
      <Address endpoint={endpoint} save={body => void change('PUT', path, body, 'Saved.')} />
      {endpoint !== undefined && (
        <div class="bar">
          <button
            type="button"
            onClick={() =>
              void change(
                'POST',
                `${path}/${endpoint.paused ? 'resume' : 'pause'}`,
                {},
                endpoint.paused ? 'Resumed.' : 'Paused.',
              )
            }
          >
            {endpoint.paused ? 'Resume' : 'Pause'}
          </button>
          <button type="button" onClick={() => void rotate(change, path)}>
            Rotate secret …
          </button>
        </div>
      )}
    </>
  )
}

type ChangeEndpoint = (method: 'POST', to: string, body: object, said: string) => Promise<boolean>

async function rotate(change: ChangeEndpoint, path: string): Promise<void> {
  const text = 'The old secret also signs for a while, so that you can change it in your app.'
  if (await confirm('Rotate the signing secret?', text, 'Rotate')) {
    await change('POST', `${path}/rotate-secret`, {}, 'Rotated.')
  }
}

function Health({ endpoint }: { readonly endpoint: EndpointView }) {
  const { health, paused, secret, previousSecretUntil, updatedAt } = endpoint
  return (
    <dl class="facts">
      <dt>Health</dt>
      <dd>
        <Badge tone={health.status === 'healthy' ? 'good' : 'bad'}>{health.status}</Badge>{' '}
        {health.reason ?? `${health.failures} of ${health.attempts} attempts failed`}
      </dd>
      <dt>State</dt>
      <dd>{paused ? <Badge tone="wait">paused</Badge> : <Badge tone="good">sending</Badge>}</dd>
      <dt>Secret</dt>
      <dd>
        <span class="mono">{secret}</span>
        {previousSecretUntil !== null && (
          <>
            {' '}
            and the previous one, until <Ago at={Date.parse(previousSecretUntil)} from={emulatorNow} />
          </>
        )}
      </dd>
      <dt>Changed</dt>
      <dd>
        <Ago at={Date.parse(updatedAt)} from={emulatorNow} />
      </dd>
    </dl>
  )
}

function Secret({ secret }: { readonly secret: Signal<string | null> }) {
  const shown = secret.value
  if (shown === null) return null
  return (
    <div class="note wait bar">
      <span>
        Shown only once. Set it where your app runs: <code>SIGNING_SECRET={shown}</code>
      </span>
      <div class="push">
        <CopyButton label="Copy" text={() => shown} />
      </div>
    </div>
  )
}

interface AddressProps {
  readonly endpoint: EndpointView | undefined
  readonly save: (body: object) => void
}

function Address({ endpoint, save }: AddressProps) {
  const submit = (event: Event) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    save({
      url: form.get('url'),
      categories: listOf(form.get('categories')),
      types: listOf(form.get('types')),
    })
  }
  return (
    <form class="panel" key={endpoint?.updatedAt} onSubmit={submit}>
      <Field label="Address">
        <input
          type="url"
          name="url"
          required
          placeholder="http://localhost:3000/webhooks"
          defaultValue={endpoint?.url ?? ''}
        />
      </Field>
      <div class="fields">
        <Field label="Categories, separated by commas; empty for all">
          <input name="categories" defaultValue={endpoint?.categories?.join(', ') ?? ''} />
        </Field>
        <Field label="Types, separated by commas; empty for all">
          <input name="types" defaultValue={endpoint?.types?.join(', ') ?? ''} />
        </Field>
      </div>
      <div>
        <button type="submit" class="primary">
          Save
        </button>
      </div>
    </form>
  )
}

function listOf(value: FormDataEntryValue | null): readonly string[] | null {
  const list = String(value ?? '')
    .split(',')
    .map(one => one.trim())
    .filter(one => one !== '')
  return list.length === 0 ? null : list
}

function NewWorkspace({ reload }: { readonly reload: () => void }) {
  const id = useSignal('')
  const submit = (event: Event) => {
    event.preventDefault()
    void attempt(async () => {
      await api('workspaces', { method: 'POST', body: { id: id.value } })
      reload()
      return `The workspace ${id.value} was created.`
    })
  }
  return (
    <form class="fields" onSubmit={submit}>
      <Field label="New workspace">
        <input required value={id.value} onInput={event => (id.value = event.currentTarget.value)} />
      </Field>
      <button type="submit">Add</button>
    </form>
  )
}

import { type Resource, useResource } from '../kit/resource.ts'
import { hrefOf } from '../kit/route.ts'
import { attempt } from '../kit/toasts.tsx'
import { api } from './api.ts'
import { commandOf } from './command-of.ts'
import { useNotices } from './live.ts'

/** Faults from the API: a chance from 0 to 1, `true`, or a setting. */
export type Faults = Readonly<Record<string, string | number | boolean>>

/** Returns the current faults, kept up to date. */
export function useFaults(): Resource<Faults> {
  const faults = useResource(signal => api<Faults>('faults', { signal }))
  useNotices(({ event }) => {
    if (event === 'faults' || event === 'reset' || event === 'gap') faults.reload()
  })
  return faults
}

/** Shows the active faults on every page. */
export function ActiveFaults({ faults }: { readonly faults: Resource<Faults> }) {
  const active = activeOf(faults.data.value ?? {})
  if (active.length === 0) return null
  return (
    <div class="note wait bar" role="status">
      <span>
        Faults are on:{' '}
        {active.map(([name, value]) => (value === true ? name : `${name}=${value}`)).join(', ')}
      </span>
      <span class="bar push">
        <a href={hrefOf(['faults'])}>Change</a>
        <button type="button" onClick={() => void setFaults(faults, {}, 'All faults are off.')}>
          Turn them off
        </button>
      </span>
    </div>
  )
}

function activeOf(faults: Faults): readonly (readonly [string, string | number | boolean])[] {
  return Object.entries(faults).filter(([, value]) => value !== false && value !== 0)
}

/** Replaces all faults. */
export function setFaults(faults: Resource<Faults>, next: Faults, said: string): Promise<boolean> {
  const pairs = activeOf(next).map(([name, value]) => `${name}=${value}`)
  const command = commandOf(pairs.length === 0 ? ['faults', 'clear'] : ['faults', 'set', ...pairs])
  return attempt(async () => {
    await api('faults', { method: 'PUT', body: next })
    faults.reload()
    return said
  }, command)
}

import type { EmulatorFaults } from '../../../packages/emulator/src/options/emulator-options.ts'
import { Failure } from '../kit/failure.tsx'
import { Field } from '../kit/field.tsx'
import { useResource } from '../kit/resource.ts'
import { attempt } from '../kit/toasts.tsx'
import { api } from './api.ts'
import { useNotices } from './live.ts'

const CHANCES = {
  duplicate: 'Sent twice',
  concurrentDuplicate: 'Sent twice at once',
  disorder: 'Out of order',
  lostReply: 'Reply lost',
  tamper: 'Body changed after signing',
  staleTimestamp: 'Old timestamp',
} as const

/** What goes wrong from the next attempt on. */
export function FaultsForm() {
  const faults = useResource(signal => api<EmulatorFaults>('faults', { signal }))
  useNotices(({ event }) => {
    if (event === 'faults' || event === 'reset' || event === 'gap') faults.reload()
  })
  const data = faults.data.value
  const submit = (event: Event) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    void attempt(async () => {
      await api('faults', { method: 'PUT', body: faultsOf(form) })
      faults.reload()
      return 'Faults set, from the next attempt on.'
    })
  }
  return (
    <form class="panel" onSubmit={submit} aria-labelledby="faults">
      <h2 id="faults">Faults</h2>
      <p class="quiet">How often, from 0 (never) to 1 (always). The seed decides which.</p>
      <Failure error={faults.error.value} retry={faults.reload} />
      {data !== undefined && (
        <div class="fields" key={JSON.stringify(data)}>
          {Object.entries(CHANCES).map(([name, label]) => (
            <Field key={name} label={label}>
              <input
                type="number"
                name={name}
                min="0"
                max="1"
                step="any"
                defaultValue={String(Number(data[name as keyof typeof CHANCES] ?? 0))}
              />
            </Field>
          ))}
          <Field label="Age of an old timestamp, such as 10m">
            <input name="staleBy" size={8} defaultValue={String(data.staleBy ?? '')} />
          </Field>
          <Field label="Delay, such as 500ms">
            <input name="delay" size={8} defaultValue={String(data.delay ?? '')} />
          </Field>
          <label class="choice">
            <input type="checkbox" name="frozenTimestamp" defaultChecked={data.frozenTimestamp === true} />
            Retries keep the first timestamp
          </label>
        </div>
      )}
      <div>
        <button type="submit">Set faults</button>
      </div>
    </form>
  )
}

function faultsOf(form: FormData): object {
  const chances = Object.keys(CHANCES).flatMap(name => {
    const chance = Number(form.get(name) ?? 0)
    return chance > 0 ? [[name, chance] as const] : []
  })
  const delay = String(form.get('delay') ?? '').trim()
  const staleBy = String(form.get('staleBy') ?? '').trim()
  return {
    ...Object.fromEntries(chances),
    ...(delay !== '' && { delay }),
    ...(staleBy !== '' && { staleBy }),
    ...(form.get('frozenTimestamp') !== null && { frozenTimestamp: true }),
  }
}

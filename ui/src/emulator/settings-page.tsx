import type { SettingsView } from '../../../packages/emulator/src/api/emulator-api.ts'
import { confirm } from '../kit/confirm.tsx'
import { Badge } from '../kit/elements.tsx'
import { Failure } from '../kit/failure.tsx'
import { useResource } from '../kit/resource.ts'
import { attempt } from '../kit/toasts.tsx'
import { api } from './api.ts'

/** Lists all settings and marks unpublished ones. */
export function SettingsPage() {
  const settings = useResource(signal => api<SettingsView>('settings', { signal }))
  const reset = async () => {
    const text = 'This empties the log and the messages, and resets the clock and the faults. Endpoints stay.'
    if (!(await confirm('Reset the emulator?', text, 'Reset', true))) return
    await attempt(async () => {
      await api('reset', { method: 'POST', body: {} })
      settings.reload()
      return 'Reset.'
    })
  }
  return (
    <>
      <div class="bar">
        <h1>Settings</h1>
        <button type="button" class="danger push" onClick={() => void reset()}>
          Reset …
        </button>
      </div>
      <p class="quiet">
        Options of the same names set these values when the emulator starts; limits are fixed. A value that is
        not published is a guess at the platform's. Those without a mark concern the emulator alone.
      </p>
      <Failure error={settings.error.value} retry={settings.reload} />
      {settings.data.value !== undefined && <Table settings={settings.data.value.settings} />}
    </>
  )
}

function Table({ settings }: { readonly settings: SettingsView['settings'] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section class="table-frame" aria-label="Settings" tabIndex={0}>
      <table class="wide">
        <caption class="visually-hidden">Settings</caption>
        <thead>
          <tr>
            <th scope="col" style={{ width: '15rem' }}>
              Name
            </th>
            <th scope="col" style={{ width: '11.5rem' }}>
              Value
            </th>
            <th scope="col" style={{ width: '9.5rem' }}>
              Published
            </th>
            <th scope="col">Meaning</th>
          </tr>
        </thead>
        <tbody>
          {settings.map(({ name, text, published, meaning }) => (
            <tr key={name} class="row">
              <td class="mono">{name}</td>
              <td class="mono">{text}</td>
              <td>
                {published === true && <Badge tone="good">yes</Badge>}
                {published === false && <Badge tone="wait">not published</Badge>}
              </td>
              <td>{meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

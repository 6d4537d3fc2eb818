import type { Handling, Overview } from '../../../packages/dashboard/src/protocol/protocol.ts'
import { call } from '../kit/api.ts'
import { askFor, confirm } from '../kit/confirm.tsx'
import { Ago } from '../kit/now.tsx'
import { useResource } from '../kit/resource.ts'
import { visible } from '../kit/text.ts'
import { attempt } from '../kit/toasts.tsx'
import { doVerb } from './verbs.ts'

interface PauseProps {
  readonly overview: Overview
  readonly onChanged: () => void
}

/** Says on every page what waits because somebody wanted it, before anybody looks for a fault. */
export function PauseNote({ overview, onChanged }: PauseProps) {
  const { paused, pausedTypes = [] } = overview.stats
  const names = [...(paused === true ? [undefined] : []), ...pausedTypes]
  if (names.length === 0) return null
  return <Pauses key={names.join()} names={names} overview={overview} onChanged={onChanged} />
}

/** `names` has undefined for the pause of all types. */
function Pauses({
  names,
  overview: { role },
  onChanged,
}: PauseProps & { readonly names: readonly (string | undefined)[] }) {
  const handling = useResource(signal => call<Handling>('api/handling', { signal }))
  const { paused = [], cannotPause } = handling.data.value ?? {}
  const resume = async (type: string | undefined) => {
    const words = type === undefined ? 'Handling is resumed.' : `Handling of ${visible(type)} is resumed.`
    if (await change('resume', type, words)) onChanged()
  }
  return (
    <div class="note wait stack tight" role="status">
      {names.map(type => {
        const since = paused.find(one => one.type === type)?.since
        return (
          <div key={type ?? ''} class="bar">
            <span>
              <b>{type === undefined ? 'Handling is paused' : `Handling of ${visible(type)} is paused`}</b>:
              events are accepted, and wait until somebody resumes it.
              {since !== undefined && (
                <span class="small quiet">
                  {' '}
                  Since <Ago at={since} />
                </span>
              )}
            </span>
            {role === 'admin' && cannotPause === undefined && (
              <button type="button" class="push" onClick={() => void resume(type)}>
                {type === undefined ? 'Resume all' : 'Resume'}
              </button>
            )}
          </div>
        )
      })}
    </div>
  )
}

/** Pauses all types, or one. Absent if the inbox cannot; the reason is in its tooltip if only types cannot be paused. */
export function PauseButton({ overview: { role, stats }, onChanged }: PauseProps) {
  const handling = useResource(signal => call<Handling>('api/handling', { signal }))
  const known = handling.data.value
  if (role !== 'admin' || known === undefined || stats.paused === true) return null
  if (known.cannotPause !== undefined)
    return <span class="push small quiet">Handling cannot be paused here: {known.cannotPause}</span>
  const pause = async () => {
    const type = await askWhat(known)
    if (type === undefined) return
    const what = type === '' ? 'Handling' : `Handling of ${visible(type)}`
    const words = `${what} is paused. Events are accepted, and wait.`
    if (await change('pause', type === '' ? undefined : type, words)) onChanged()
  }
  return (
    <button type="button" class="push" onClick={() => void pause()}>
      Pause handling …
    </button>
  )
}

const PAUSE = {
  title: 'Pause handling?',
  text: "No attempt begins in any of your app's processes until somebody resumes it. Events are accepted, and wait; running attempts end.",
  action: 'Pause',
  scope: undefined,
} as const

/** Resolves with one type, an empty text for all of them, or undefined to leave it. */
async function askWhat({ cannotPauseTypes }: Handling): Promise<string | undefined> {
  if (cannotPauseTypes === undefined) {
    const label = 'One event type; empty: all events'
    return askFor({ label, placeholder: 'conversation.resolved', kind: 'text' }, PAUSE)
  }
  const text = `${PAUSE.text} A single type cannot be paused: ${cannotPauseTypes}`
  return (await confirm(PAUSE.title, text, PAUSE.action)) ? '' : undefined
}

function change(verb: string, type: string | undefined, done: string): Promise<boolean> {
  return attempt(async () => {
    await doVerb(verb, type === undefined ? { all: true } : { type })
    return done
  })
}

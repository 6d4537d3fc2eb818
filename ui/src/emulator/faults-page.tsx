import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { Field } from '../kit/elements.tsx'
import { Failure } from '../kit/failure.tsx'
import type { Resource } from '../kit/resource.ts'
import { type Faults, setFaults } from './active-faults.tsx'

const CHANCES = {
  duplicate: 'Sent twice',
  concurrentDuplicate: 'Sent twice concurrently',
  disorder: 'Out of order',
  lostReply: 'Reply lost',
  tamper: 'Body changed after signing',
  staleTimestamp: 'Old timestamp',
} as const
const SETTINGS = ['staleBy', 'delay', 'answer', 'answerNext'] as const

/** Form for the faults, from the next attempt on. */
export function FaultsPage({ faults }: { readonly faults: Resource<Faults> }) {
  const edited = useSignal(false)
  const shown = useRef<Faults | undefined>(undefined)
  // A fault that counts down must not overwrite text being typed.
  if (!edited.value) shown.current = faults.data.value
  const data = shown.current
  const submit = (event: Event) => {
    event.preventDefault()
    edited.value = false
    const form = new FormData(event.currentTarget as HTMLFormElement)
    void setFaults(faults, faultsOf(form), 'The faults apply from the next attempt on.')
  }
  return (
    <>
      <h1>Faults</h1>
      <p class="quiet">Faults to inject, from the next attempt on.</p>
      <Failure error={faults.error.value} retry={faults.reload} isStale={data !== undefined} />
      {data !== undefined && (
        <form
          class="panel"
          onSubmit={submit}
          onInput={() => (edited.value = true)}
          key={JSON.stringify(data)}
        >
          <Answer faults={data} />
          <h2>In transit</h2>
          <p class="small quiet">
            How often, from 0 (never) to 1 (always). The same seed repeats the same faults.
          </p>
          <div class="fields">
            {Object.entries(CHANCES).map(([name, label]) => (
              <Chance key={name} name={name} label={label} value={Number(data[name] ?? 0)} />
            ))}
            <Field label="Age of an old timestamp, such as 10m">
              <input name="staleBy" size={8} defaultValue={String(data['staleBy'] ?? '')} />
            </Field>
            <Field label="Delay, such as 500ms">
              <input name="delay" size={8} defaultValue={String(data['delay'] ?? '')} />
            </Field>
            <label class="choice">
              <input
                type="checkbox"
                name="frozenTimestamp"
                defaultChecked={data['frozenTimestamp'] === true}
              />
              Retries keep the first timestamp
            </label>
          </div>
          <div>
            <button type="submit" class="primary">
              Set faults
            </button>
          </div>
        </form>
      )}
    </>
  )
}

/** Fields for a reply that replaces the app's. */
function Answer({ faults }: { readonly faults: Faults }) {
  return (
    <>
      <h2>Instead of your app</h2>
      <p id="answer-hint" class="small quiet">
        This replaces your app's reply, by chance or for the next attempts only. Your app is not called.
      </p>
      <div class="fields">
        <Field label="Answer: a status, timeout or reset">
          <input
            name="answer"
            list="answers"
            size={10}
            placeholder="none"
            pattern="[2-5]\d\d|timeout|reset"
            title="A status from 200 to 599, timeout or reset"
            aria-describedby="answer-hint"
            defaultValue={String(faults['answer'] ?? '')}
          />
        </Field>
        <datalist id="answers">
          {['500', '503', '429', '401', 'timeout', 'reset'].map(one => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <Chance name="answerChance" label="How often, 0 to 1" value={Number(faults['answerChance'] ?? 1)} />
        <Field label="Only the next … attempts">
          <input
            type="number"
            name="answerNext"
            min="1"
            max="1000000"
            placeholder="all"
            defaultValue={String(faults['answerNext'] ?? '')}
          />
        </Field>
      </div>
    </>
  )
}

function Chance({
  name,
  label,
  value,
}: {
  readonly name: string
  readonly label: string
  readonly value: number
}) {
  return (
    <Field label={label}>
      <input type="number" name={name} min="0" max="1" step="any" defaultValue={String(value)} />
    </Field>
  )
}

function faultsOf(form: FormData): Faults {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const chances = Object.keys(CHANCES).flatMap(name =>
    Number(text(name)) > 0 ? [[name, Number(text(name))]] : [],
  )
  const settings = SETTINGS.flatMap(name => (text(name) === '' ? [] : [[name, settingOf(text(name))]]))
  const chance = Number(text('answerChance'))
  return {
    ...Object.fromEntries(chances),
    ...Object.fromEntries(settings),
    ...(text('answer') !== '' && chance < 1 && { answerChance: chance }),
    ...(form.get('frozenTimestamp') !== null && { frozenTimestamp: true }),
  }
}

/** Parses a status or count as a number; durations and words stay strings. */
function settingOf(text: string): string | number {
  return /^\d+$/.test(text) ? Number(text) : text
}

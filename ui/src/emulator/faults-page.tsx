import { FAULTS, type Field, PRESETS } from '@ackhook/emulator/routes'
import { useSignal } from '@preact/signals'
import { Fragment } from 'preact'
import { useRef } from 'preact/hooks'
import { Field as LabeledField } from '../kit/elements.tsx'
import { Failure } from '../kit/failure.tsx'
import type { Resource } from '../kit/resource.ts'
import { type Faults, setFaults } from './active-faults.tsx'

/** Fields of a reply that replaces the app's, which the form shows apart. */
const OF_ANSWER = ['preset', 'answer', 'answerChance', 'answerNext']
const IN_TRANSIT = Object.entries<Field>(FAULTS).filter(([name]) => !OF_ANSWER.includes(name))

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
      <Presets faults={faults} />
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
            {IN_TRANSIT.map(([name, field]) => (
              <Fault key={name} name={name} field={field} value={data[name]} />
            ))}
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

/** Buttons that replace all faults with those of a situation. */
function Presets({ faults }: { readonly faults: Resource<Faults> }) {
  return (
    <dl class="facts presets">
      {Object.entries(PRESETS).map(([name, { meaning }]) => (
        <Fragment key={name}>
          <dt>
            <button type="button" onClick={() => void setFaults(faults, { preset: name }, `${meaning}.`)}>
              {name}
            </button>
          </dt>
          <dd>{meaning}</dd>
        </Fragment>
      ))}
    </dl>
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
        <LabeledField label="Answer: a status, timeout or reset">
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
        </LabeledField>
        <datalist id="answers">
          {['500', '503', '429', '401', 'timeout', 'reset'].map(one => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <Chance name="answerChance" label="How often, 0 to 1" value={Number(faults['answerChance'] ?? 1)} />
        <LabeledField label="Only the next … attempts">
          <input
            type="number"
            name="answerNext"
            min="1"
            max="1000000"
            placeholder="all"
            defaultValue={String(faults['answerNext'] ?? '')}
          />
        </LabeledField>
      </div>
    </>
  )
}

interface FaultProps {
  readonly name: string
  readonly field: Field
  readonly value: string | number | boolean | undefined
}

function Fault({ name, field: { kind, sign, schema }, value }: FaultProps) {
  const label = String(schema['description'])
  if (sign === 'chance') return <Chance name={name} label={label} value={Number(value ?? 0)} />
  if (kind === 'flag') {
    return (
      <label class="choice">
        <input type="checkbox" name={name} defaultChecked={value === true} />
        {label}
      </label>
    )
  }
  return (
    <LabeledField label={label}>
      <input name={name} size={8} defaultValue={String(value ?? '')} />
    </LabeledField>
  )
}

interface ChanceProps {
  readonly name: string
  readonly label: string
  readonly value: number
}

function Chance({ name, label, value }: ChanceProps) {
  return (
    <LabeledField label={label}>
      <input type="number" name={name} min="0" max="1" step="any" defaultValue={String(value)} />
    </LabeledField>
  )
}

/** Reads the form. A fault without a value, or with its default, is left out. */
function faultsOf(form: FormData): Faults {
  const readFault = (name: string, { kind, sign }: Field): string | number | boolean | undefined => {
    const text = String(form.get(name) ?? '').trim()
    if (kind === 'flag') return text === '' ? undefined : true
    if (name === 'answerChance') return form.get('answer') === '' || text === '1' ? undefined : Number(text)
    if (sign === 'chance') return Number(text) > 0 ? Number(text) : undefined
    if (text === '') return undefined
    return /^\d+$/.test(text) ? Number(text) : text
  }
  const values = Object.entries<Field>(FAULTS).map(([name, field]) => [name, readFault(name, field)] as const)
  return Object.fromEntries(
    values.filter((one): one is [string, string | number | boolean] => one[1] !== undefined),
  )
}

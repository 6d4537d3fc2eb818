import { useSignal } from '@preact/signals'
import type { VerbView } from '../../../packages/dashboard/src/protocol/protocol.ts'
import type { FieldView, Outcome } from '../../../packages/dashboard/src/protocol/verbs.ts'
import { confirm } from '../kit/confirm.tsx'
import { Field } from '../kit/elements.tsx'
import { useTitle } from '../kit/title.ts'
import { attempt } from '../kit/toasts.tsx'
import { showBatch } from './batches.tsx'
import { Blocks } from './blocks.tsx'
import { doVerb, isBatch, labelOf, planVerb, said, verbs } from './verbs.ts'

/** Everything that an operator can do, with a form for each verb: also what no other page has a place for. */
export function ActionsPage({ onChanged }: { readonly onChanged: () => void }) {
  useTitle('')
  return (
    <>
      <h1>Actions</h1>
      <p class="quiet">What the command line can do with this inbox.</p>
      {verbs.value.map(verb => (
        <Action key={verb.name} verb={verb} onChanged={onChanged} />
      ))}
    </>
  )
}

function Action({ verb, onChanged }: { readonly verb: VerbView; readonly onChanged: () => void }) {
  const outcome = useSignal<Outcome | undefined>(undefined)
  const isBusy = useSignal(false)
  const { summary, effect, changes, words, fields } = verb
  const submit = async (form: HTMLFormElement) => {
    isBusy.value = true
    outcome.value = undefined
    await attempt(async () => {
      const args = await confirmedArgs(verb, argsOf(form, fields))
      if (args === undefined) return ''
      const reply = await doVerb(verb.name, args)
      if (isBatch(reply)) showBatch(reply)
      else outcome.value = reply
      if (changes !== 'nothing') onChanged()
      return ''
    })
    isBusy.value = false
  }
  return (
    <details>
      <summary>
        <b>{words.label}</b>: {summary}
      </summary>
      <form
        class="stack"
        aria-label={words.label}
        onSubmit={event => {
          event.preventDefault()
          void submit(event.currentTarget)
        }}
      >
        {effect !== undefined && <p class="quiet">{effect}.</p>}
        <div class="fields">
          {fields
            .filter(({ schema }) => schema.isForPages !== true)
            .map(field => (
              <Input key={field.name} field={field} />
            ))}
        </div>
        <div class="bar">
          <button type="submit" class={changes === 'for good' ? 'danger' : 'primary'} disabled={isBusy.value}>
            {words.label}
          </button>
        </div>
      </form>
      <div class="stack tight" role="status">
        {outcome.value !== undefined && <Blocks blocks={outcome.value.blocks} />}
      </div>
    </details>
  )
}

/** Asks before something changes. Resolves with `undefined` if the person cancels. */
async function confirmedArgs(verb: VerbView, args: object): Promise<object | undefined> {
  const { name, changes, words, effect = '', asks } = verb
  const plan = asks === true ? await planVerb(name, args) : { args }
  // A verb that asks knows when nothing has to be asked.
  if (changes === 'nothing' || (asks === true && plan.question === undefined)) return plan.args
  const title = plan.question === undefined ? `${words.label}?` : said(plan.question)
  const isSure = await confirm(title, `${effect}.`, words.label, changes === 'for good')
  return isSure ? plan.args : undefined
}

function Input({ field: { name, isRequired, schema } }: { readonly field: FieldView }) {
  const { type, description = '', default: preset, sign = '' } = schema
  const label = `${labelOf(name)}: ${description}`
  if (type === 'boolean')
    return (
      <label class="field">
        {label}
        <input type="checkbox" name={name} />
      </label>
    )
  if (schema.enum !== undefined)
    return (
      <Field label={label}>
        <select name={name} value={String(preset ?? '')}>
          {schema.enum.map(one => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </Field>
    )
  const given = {
    ...{ name, required: isRequired, autocomplete: 'off' },
    defaultValue: preset === undefined ? '' : String(preset),
  }
  return (
    <Field label={label}>
      {type === 'integer' || type === 'number' ? (
        <input type="number" {...given} />
      ) : (
        <input
          type="text"
          {...given}
          placeholder={type === 'array' ? `${sign}, separated by spaces` : sign}
        />
      )}
    </Field>
  )
}

/** Reads a form: an empty field was not given. */
function argsOf(form: HTMLFormElement, fields: readonly FieldView[]): object {
  const data = new FormData(form)
  return Object.fromEntries(
    fields.flatMap(({ name, schema: { type } }): readonly (readonly [string, unknown])[] => {
      const text = String(data.get(name) ?? '').trim()
      if (text === '') return []
      if (type === 'boolean') return [[name, true]]
      if (type === 'array') return [[name, text.split(/\s+/)]]
      return [[name, type === 'string' ? text : Number(text)]]
    }),
  )
}

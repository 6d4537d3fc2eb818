import { signal } from '@preact/signals'
import { Fragment } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Field } from './elements.tsx'
import type { Word } from './selection.ts'
import { visible } from './text.ts'

/** What an action concerns: the filters, and what selects without one. */
export interface Scope {
  readonly words: readonly Word[]
  /** Shown instead if there are no filters. */
  readonly whole: string
}

/** A value that a dialog asks for. It may stay empty. */
export interface Wanted {
  readonly label: string
  readonly placeholder: string
  /** Default: `url`. */
  readonly kind?: 'url' | 'text'
}

interface Question {
  readonly title: string
  readonly text: string
  readonly scope: Scope | undefined
  readonly action: string
  readonly danger: boolean
  readonly wanted: Wanted | undefined
  /** Called with the value; empty without a field, undefined for no. */
  readonly answer: (value: string | undefined) => void
}

const question = signal<Question | undefined>(undefined)

/** Asks before an action. `action` is the button's label, with the number of affected items. */
export function confirm(
  title: string,
  text: string,
  action: string,
  danger = false,
  scope?: Scope,
): Promise<boolean> {
  return ask({ title, text, scope, action, danger, wanted: undefined }).then(value => value !== undefined)
}

/** Asks before an action that takes a value, such as an address. Resolves with undefined if the user cancels. */
export function askFor(
  wanted: Wanted,
  { title, text, action, scope }: Pick<Question, 'title' | 'text' | 'action' | 'scope'>,
): Promise<string | undefined> {
  return ask({ title, text, scope, action, danger: false, wanted })
}

function ask(asked: Omit<Question, 'answer'>): Promise<string | undefined> {
  return new Promise(answer => {
    question.value = { ...asked, answer }
  })
}

export function ConfirmDialog() {
  const dialog = useRef<HTMLDialogElement>(null)
  const asked = question.value
  useLayoutEffect(() => {
    if (asked !== undefined) dialog.current?.showModal()
  }, [asked])
  if (asked === undefined) return null
  const answer = (value: string | undefined) => {
    if (question.peek() !== asked) return
    // Closing returns the focus to the previous element.
    dialog.current?.close()
    question.value = undefined
    asked.answer(value)
  }
  const submit = (event: Event) => {
    event.preventDefault()
    answer(String(new FormData(event.currentTarget as HTMLFormElement).get('value') ?? '').trim())
  }
  return (
    <dialog ref={dialog} class="stack" aria-labelledby="confirm-title" onClose={() => answer(undefined)}>
      <h2 id="confirm-title">{asked.title}</h2>
      {asked.scope !== undefined && <ScopeList {...asked.scope} />}
      <p>{asked.text}</p>
      <form class="stack" onSubmit={submit}>
        {asked.wanted !== undefined && (
          <Field label={asked.wanted.label}>
            {asked.wanted.kind === 'text' ? (
              <input type="text" name="value" placeholder={asked.wanted.placeholder} />
            ) : (
              <input type="url" name="value" placeholder={asked.wanted.placeholder} />
            )}
          </Field>
        )}
        <div class="bar">
          {/* First, so that it gets the focus if the action cannot be undone. */}
          <button type="button" onClick={() => answer(undefined)}>
            Cancel
          </button>
          <button
            type="submit"
            class={asked.danger ? 'danger' : 'primary'}
            autofocus={!asked.danger && asked.wanted === undefined}
          >
            {asked.action}
          </button>
        </div>
      </form>
    </dialog>
  )
}

/** Names the filters. */
function ScopeList({ words, whole }: Scope) {
  if (words.length === 0) return <p>{whole}</p>
  return (
    <dl class="facts">
      {words.map(([label, value]) => (
        <Fragment key={label}>
          <dt>{label}</dt>
          <dd class="mono">{visible(value)}</dd>
        </Fragment>
      ))}
    </dl>
  )
}

import { signal } from '@preact/signals'
import { Fragment } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Word } from './selection.ts'
import { visible } from './text.ts'

/** What an action concerns: the filters, and what selects without one. */
export interface Scope {
  readonly words: readonly Word[]
  /** Shown instead if there are no filters. */
  readonly whole: string
}

interface Question {
  readonly title: string
  readonly text: string
  readonly scope: Scope | undefined
  readonly action: string
  readonly danger: boolean
  readonly answer: (yes: boolean) => void
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
  return new Promise(answer => {
    question.value = { title, text, scope, action, danger, answer }
  })
}

export function ConfirmDialog() {
  const dialog = useRef<HTMLDialogElement>(null)
  const asked = question.value
  useLayoutEffect(() => {
    if (asked !== undefined) dialog.current?.showModal()
  }, [asked])
  if (asked === undefined) return null
  const answer = (yes: boolean) => {
    if (question.peek() !== asked) return
    // Closing returns the focus to the previous element.
    dialog.current?.close()
    question.value = undefined
    asked.answer(yes)
  }
  return (
    <dialog ref={dialog} class="stack" aria-labelledby="confirm-title" onClose={() => answer(false)}>
      <h2 id="confirm-title">{asked.title}</h2>
      {asked.scope !== undefined && <ScopeList {...asked.scope} />}
      <p>{asked.text}</p>
      <div class="bar">
        {/* First, so that it gets the focus if the action cannot be undone. */}
        <button type="button" onClick={() => answer(false)}>
          Cancel
        </button>
        <button
          type="button"
          class={asked.danger ? 'danger' : 'primary'}
          autofocus={!asked.danger}
          onClick={() => answer(true)}
        >
          {asked.action}
        </button>
      </div>
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

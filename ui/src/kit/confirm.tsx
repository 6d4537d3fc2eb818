import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface Question {
  readonly title: string
  readonly text: string
  readonly action: string
  readonly danger: boolean
  readonly answer: (yes: boolean) => void
}

const question = signal<Question | undefined>(undefined)

/** Asks before an action. `action` names it, with the number of things it touches. */
export function confirm(title: string, text: string, action: string, danger = false): Promise<boolean> {
  return new Promise(answer => {
    question.value = { title, text, action, danger, answer }
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
    // Gives the focus back to what had it.
    dialog.current?.close()
    question.value = undefined
    asked.answer(yes)
  }
  return (
    <dialog ref={dialog} class="stack" aria-labelledby="confirm-title" onClose={() => answer(false)}>
      <h2 id="confirm-title">{asked.title}</h2>
      <p>{asked.text}</p>
      <div class="bar">
        {/* First, so that it has the focus where an action cannot be taken back. */}
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

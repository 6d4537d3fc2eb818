import { signal } from '@preact/signals'

interface Toast {
  readonly id: number
  readonly tone: 'good' | 'bad'
  readonly text: string
}

const SHOWN_MS = 8000
const MAX = 4
const toasts = signal<readonly Toast[]>([])
let last = 0

/** Says what became of an action. Bad news stays until it is dismissed. */
export function toast(tone: Toast['tone'], text: string): void {
  const id = ++last
  toasts.value = [...toasts.value.slice(1 - MAX), { id, tone, text }]
  if (tone === 'good') setTimeout(() => dismiss(id), SHOWN_MS)
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter(one => one.id !== id)
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, tone, text }) => (
        <div key={id} class={`toast ${tone}`}>
          <span>{text}</span>
          <button type="button" class="plain" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  )
}

/** Runs an action and reports it. Answers whether it succeeded. */
export async function attempt(action: () => Promise<string>): Promise<boolean> {
  try {
    toast('good', await action())
    return true
  } catch (cause) {
    toast('bad', cause instanceof Error ? cause.message : String(cause))
    return false
  }
}

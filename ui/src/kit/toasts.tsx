import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

interface Toast {
  readonly id: number
  readonly tone: 'good' | 'bad'
  readonly text: string
  /** Equivalent command. */
  readonly command: string | undefined
}

const SHOWN_MS = 8000
const MAX = 4
const toasts = signal<readonly Toast[]>([])
let last = 0

/** Shows an action's result. Errors stay until they are dismissed. */
export function toast(tone: Toast['tone'], text: string, command?: string): void {
  const id = ++last
  toasts.value = [...toasts.value.slice(1 - MAX), { id, tone, text, command }]
  if (tone === 'good') setTimeout(() => dismiss(id), SHOWN_MS)
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter(one => one.id !== id)
}

/** Shows the toasts, after the tasks in `children`. */
export function Toasts({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="toasts">
      {children}
      <div class="stack tight" role="status" aria-live="polite">
        {toasts.value.map(({ id, tone, text, command }) => (
          <div key={id} class={`toast ${tone}`}>
            <span>{text}</span>
            {command !== undefined && (
              <button type="button" class="plain push" onClick={() => void copy(command)}>
                Copy command
              </button>
            )}
            <button type="button" class="plain" aria-label="Dismiss" onClick={() => dismiss(id)}>
              ×
            </button>
          </div>
        ))}
      </div>
    </div>
  )
}

/** Copies a text to the clipboard, and reports it. */
export function copy(text: string): Promise<void> {
  return navigator.clipboard.writeText(text).then(
    () => toast('good', 'Copied.'),
    () => toast('bad', 'The browser refused access to the clipboard.'),
  )
}

/** Downloads a text as a file. */
export function download(name: string, text: string): void {
  const link = document.createElement('a')
  link.download = name
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

/** Runs an action and reports it, unless it has nothing to say, with the equivalent command. Returns whether it succeeded. */
export async function attempt(action: () => Promise<string>, command?: string): Promise<boolean> {
  try {
    const said = await action()
    if (said !== '') toast('good', said, command)
    return true
  } catch (cause) {
    toast('bad', cause instanceof Error ? cause.message : String(cause))
    return false
  }
}

import { signal } from '@preact/signals'
import { formatCount } from './text.ts'
import { toast } from './toasts.tsx'

/** A task of many requests, shown on every page until it ends. */
export interface Task {
  readonly title: string
  readonly done: number
  /** Undefined while unknown. */
  readonly total: number | undefined
  readonly stop: () => void
}

/** Control object for a task's work. */
export interface TaskControl {
  /** Aborted when the user stops the task. Finish the current request, then return. */
  readonly signal: AbortSignal
  readonly progress: (done: number, total?: number) => void
}

const tasks = signal<ReadonlyMap<number, Task>>(new Map())
let last = 0

/** Returns whether a task with this title is running. */
export function isUnderWay(title: string): boolean {
  return [...tasks.value.values()].some(task => task.title === title)
}

/**
 * Runs `work` with a progress bar and a stop button. Then shows the text from `said` with the equivalent command. After
 * an error, shows it with the progress so far and resolves with `undefined`.
 */
export async function runTask<T>(
  title: string,
  work: (control: TaskControl) => Promise<T>,
  said: (result: T) => string,
  command?: string,
): Promise<T | undefined> {
  const id = ++last
  const abort = new AbortController()
  const show = (changes: Partial<Task>) => {
    const before = tasks.peek().get(id) ?? { title, done: 0, total: undefined, stop: () => abort.abort() }
    tasks.value = new Map([...tasks.peek(), [id, { ...before, ...changes }]])
  }
  show({})
  try {
    const progress = (done: number, total?: number) => show(total === undefined ? { done } : { done, total })
    const result = await work({ signal: abort.signal, progress })
    const text = said(result)
    if (text !== '') toast('good', abort.signal.aborted ? `Stopped. ${text}` : text, command)
    return result
  } catch (cause) {
    const { done = 0 } = tasks.peek().get(id) ?? {}
    toast(
      'bad',
      `${cause instanceof Error ? cause.message : cause} Completed before the error: ${formatCount(done)}.`,
    )
    return undefined
  } finally {
    tasks.value = new Map([...tasks.peek()].filter(([key]) => key !== id))
  }
}

export function Tasks() {
  if (tasks.value.size === 0) return null
  return (
    <section class="stack tight" aria-label="Tasks in progress">
      {[...tasks.value].map(([id, { title, done, total, stop }]) => (
        <div key={id} class="toast wait bar">
          <span>
            {title}: {formatCount(done)}
            {total !== undefined && ` of ${formatCount(total)}`}
          </span>
          <progress aria-label={title} max={total ?? 1} value={total === undefined ? undefined : done} />
          <button type="button" class="push" onClick={stop}>
            Stop
          </button>
        </div>
      ))}
    </section>
  )
}

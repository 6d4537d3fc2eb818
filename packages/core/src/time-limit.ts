import type { Attempt } from './attempt.ts'
import { AckhookError } from './errors.ts'

/**
 * Settles like `running`, unless the attempt is withdrawn first: by the inbox, or because `ms` have passed.
 * JavaScript cannot stop a handler; its signal is aborted and its result no longer counts.
 */
export function limitAttempt(running: Promise<void>, attempt: Attempt, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => attempt.abort(timedOut(ms)), ms)
    attempt.onAbort(reason => {
      clearTimeout(timer)
      reject(reason)
    })
    running.then(
      () => {
        clearTimeout(timer)
        resolve()
      },
      error => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

function timedOut(ms: number): AckhookError {
  return new AckhookError(
    'handler_timeout',
    `The handlers took longer than ${ms} ms (option handlerTimeout).`,
  )
}

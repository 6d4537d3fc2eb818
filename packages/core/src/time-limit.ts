import type { Alarms } from './alarms.ts'
import type { Attempt } from './attempt.ts'
import { AckhookError } from './errors.ts'

/**
 * Settles like `running`, unless the attempt is withdrawn first: by the inbox, or because the alarm rings.
 * JavaScript cannot stop a handler; its signal is aborted and its result no longer counts.
 */
export function limitAttempt(running: Promise<void>, attempt: Attempt, alarms: Alarms): Promise<void> {
  return new Promise((resolve, reject) => {
    const alarm = alarms.set(() => attempt.abort(timedOut(alarms.ms)))
    attempt.onAbort(reason => {
      alarm.cancel()
      reject(reason)
    })
    running.then(
      () => {
        alarm.cancel()
        resolve()
      },
      error => {
        alarm.cancel()
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

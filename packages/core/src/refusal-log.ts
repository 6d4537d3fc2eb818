import { CODES, type RefusalCode } from './codes.ts'
import type { Logger } from './logger.ts'
import { onceAMinute } from './once-a-minute.ts'
import type { Refusal } from './refusal.ts'

const HINTS: Partial<Record<RefusalCode, string>> = {
  signature_mismatch:
    'Is it the secret of this endpoint, and does nothing change the body on the way (a proxy, a parser)?',
  timestamp_too_old:
    'If the platform does not renew t when it retries, widen the option tolerance to its retry window; see the documentation on securing.',
  timestamp_too_new: 'Is the clock of this machine right?',
  signature_missing: 'If the platform names its header differently, set the option contract.header.',
}

/** Logs why requests were refused: a wrong secret is not to go unnoticed, nor a flood of forgeries to fill a disk. */
export function createRefusalLog(logger: Logger): (refusal: Refusal) => void {
  const sayNow = onceAMinute()
  return ({ code, detail, cause }) => {
    const more = sayNow(code)
    if (more === undefined) return
    const { status, message } = CODES[code]
    const reason = [`Webhook answered ${status} ${code}${more}: ${detail ?? message}.`, HINTS[code]].filter(
      Boolean,
    )
    const level = status === 405 ? 'info' : status >= 500 && status !== 503 ? 'error' : 'warn'
    logger[level](
      { code, status, ...(cause !== undefined && { err: cause }) },
      reason.join(' ').replace('..', '.'),
    )
  }
}

import { CODES, type RefusalCode } from './codes.ts'
import type { Logger } from './logger.ts'
import type { Refusal } from './refusal.ts'

const QUIET_MS = 60_000

const HINTS: Partial<Record<RefusalCode, string>> = {
  signature_mismatch:
    'Is it the secret of this endpoint, and does nothing change the body on the way (a proxy, a parser)?',
  timestamp_too_old:
    'If the platform does not renew t when it retries, widen the option tolerance to its retry window; see the documentation on securing.',
  timestamp_too_new: 'Is the clock of this machine right?',
  signature_missing: 'If the platform names its header differently, set the option contract.header.',
}

/**
 * Logs why requests were refused: each reason at once, then once a minute with the number of those in
 * between, so that neither a wrong secret goes unnoticed nor a flood of forgeries fills a disk.
 */
export function createRefusalLog(logger: Logger): (refusal: Refusal) => void {
  const seen = new Map<RefusalCode, { at: number; unsaid: number }>()
  return ({ code, detail, cause }) => {
    const now = performance.now()
    const last = seen.get(code)
    if (last !== undefined && now - last.at < QUIET_MS) {
      last.unsaid++
      return
    }
    seen.set(code, { at: now, unsaid: 0 })
    const { status, message } = CODES[code]
    const more = last?.unsaid ? ` (and ${last.unsaid} more since the last report)` : ''
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

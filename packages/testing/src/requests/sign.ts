import { createHmac } from 'node:crypto'
import { ConfigurationError } from '@ackhook/core'
import { checkSecret } from './check-secret.ts'

/** Options of {@link sign}. */
export interface SignOptions {
  /** The endpoint's secret. A list yields one signature per secret, as a sender may send during a rotation. */
  readonly secret: string | readonly string[]
  /** Text of `t`, exactly as signed and sent. Default: now, in whole seconds. */
  readonly timestamp?: string | number | undefined
  /** Label of the signature scheme. Default `v1`. */
  readonly scheme?: string | undefined
}

/**
 * Returns the signature header's value for exactly these bytes, as the platform creates it:
 * `t=<timestamp>,v1=<HMAC-SHA256 of "<timestamp>.<body>" in hexadecimal>`.
 *
 * @example
 * const headers = { 'x-service-signature': sign(body, { secret }) }
 */
export function sign(body: string | Uint8Array, options: SignOptions): string {
  checkSecret(options, 'sign(body, { secret })')
  if (typeof body !== 'string' && !ArrayBuffer.isView(body)) {
    throw new ConfigurationError(
      'body',
      'must be a string or bytes: write sign(JSON.stringify(event), { secret })',
    )
  }
  const timestamp = String(options.timestamp ?? Math.floor(Date.now() / 1000))
  const secrets = typeof options.secret === 'string' ? [options.secret] : options.secret
  const signatures = secrets.map(secret => {
    const digest = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')
    return `${options.scheme ?? 'v1'}=${digest}`
  })
  return [`t=${timestamp}`, ...signatures].join(',')
}

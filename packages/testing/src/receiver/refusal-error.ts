import { AckhookError, type WebhookEvent } from '@ackhook/core'
import { DOCS } from '@ackhook/core/spi'
import type { SignedRequestOptions } from '../requests/signed-request.ts'
import type { Rejection } from './refusal-watch.ts'

/**
 * Creates the error that says why an event was refused, and the fix. `changes`: the test's changes to this one request.
 */
export function refusalError(
  { id, type }: WebhookEvent<string, object>,
  rejection: Rejection,
  changes: Partial<SignedRequestOptions>,
): AckhookError {
  const { code, status, detail, cause } = rejection
  const known = detail === undefined ? '' : `${detail}. `
  const reason = secretReason(rejection, changes) ?? `${known}${fixFor(rejection, changes)}`
  const message = `${type} ${id} was refused with ${status} ${code}: ${reason}`
  return new AckhookError(code, message, cause === undefined ? undefined : { cause })
}

/** Returns the reason if the secret is wrong: `testReceiver` sends the bytes it signs, so nothing else can be. */
function secretReason({ code }: Rejection, changes: Partial<SignedRequestOptions>): string | undefined {
  // A test may set the header itself.
  if (code !== 'signature_mismatch' || changes.headers !== undefined) return undefined
  return changes.secret === undefined
    ? "the secret given to testReceiver is not the receiver's. Write testReceiver(receiver, { secret }) with the secret that the receiver was created with."
    : "the secret given to this delivery is not the receiver's. Leave it out to sign with the secret of testReceiver(receiver, { secret })."
}

function fixFor({ code }: Rejection, { timestamp }: Partial<SignedRequestOptions>): string {
  const isUntimely = code === 'timestamp_too_old' || code === 'timestamp_too_new'
  return isUntimely && timestamp === undefined
    ? 'If the receiver has its own clock, write testReceiver(receiver, { secret, clock }).'
    : `See ${DOCS}errors.md#refused`
}

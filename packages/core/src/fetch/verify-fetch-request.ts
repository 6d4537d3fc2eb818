import { Refusal } from '../errors/refusal.ts'
import { checkHead, DEFAULT_LIMITS } from '../http/request.ts'
import { wrongFramework } from '../receiver/to-receiver.ts'
import { type CheckOptions, createCheck, resultOf, type VerifiedRequest } from '../verify/verify-alone.ts'
import { readRequestBody } from './read-request-body.ts'

/**
 * Checks one Fetch request as a receiver does, and reads its body: at most 1 MiB, within 10 seconds. Otherwise like
 * `verifyRequest` of `@ackhook/core`.
 *
 * @example
 * const { event, reason } = await verifyRequest(request, { secret: process.env['SIGNING_SECRET'] })
 * if (event === undefined) console.warn('refused:', reason)
 */
export async function verifyRequest(request: Request, options: CheckOptions): Promise<VerifiedRequest> {
  const check = createCheck(options)
  if (typeof request?.headers?.get !== 'function')
    throw wrongFramework('verifyRequest of @ackhook/core/fetch', 'a Fetch request', request)
  const unacceptable = checkHead(request, DEFAULT_LIMITS)
  if (unacceptable !== undefined) return resultOf(unacceptable)
  const body = await readRequestBody(request, DEFAULT_LIMITS)
  return body instanceof Refusal ? resultOf(body) : check(request.headers, body)
}

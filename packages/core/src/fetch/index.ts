/**
 * The check of a Fetch request alone, without a receiver.
 *
 * @module
 */

export type { CheckOptions, VerifiedRequest } from '../verify/verify-alone.ts'
export { verifyRequest } from './verify-fetch-request.ts'

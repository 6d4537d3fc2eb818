import { AckhookError, describeError } from '@ackhook/core'

/** Why BullMQ cannot begin, and what to do about it. */
export function cannotStart(cause: unknown): AckhookError {
  const what = `BullMQ cannot work with its server (${describeError(cause)})`
  return new AckhookError('inbox_unavailable', `${what}: ${fixOf(cause)}.`, { cause })
}

function fixOf(cause: unknown): string {
  const { code, message } = Object(cause) as { readonly code?: unknown; readonly message?: unknown }
  // Undefined table, undefined function: BullMQ's are elsewhere.
  if (code === '42P01' || code === '42883') {
    return "have BullMQ's schema in the search_path, with new Pool({ options: '-c search_path=bullmq' }) or ALTER ROLE … SET search_path = bullmq"
  }
  // Insufficient privilege, read-only transaction, and what Redis says of either.
  if (
    code === '42501' ||
    code === '25006' ||
    /NOPERM|READONLY|can't run this command/.test(String(message))
  ) {
    return 'give it a user that may write, and the address of the primary'
  }
  return 'check that it runs, and that the option `connection` or `postgres` leads to it'
}

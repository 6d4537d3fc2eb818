import { AckhookError } from '@ackhook/core'
import { describeError } from '@ackhook/core/spi'
import type { Engine } from './create-engine.ts'

const AGAIN_MS = 50
/** What ioredis says of a command whose connection to a server is lost, or is being made again. */
const LOST = /^MaxRetriesPerRequestError|Stream isn't writeable/

/**
 * Who may not write, or finds other tables, is told at the start and not by every delivery. Nothing has this id. A
 * connection that is lost meanwhile, as where a process is held up while it boots, says nothing: there will be another.
 */
export async function askToWrite({ discard }: Pick<Engine, 'discard'>, forMs: number): Promise<void> {
  const endsAt = performance.now() + forMs
  for (;;) {
    try {
      await discard('none')
      return
    } catch (error) {
      if (performance.now() > endsAt || !LOST.test(describeError(error))) throw error
      await new Promise(resolve => setTimeout(resolve, AGAIN_MS))
    }
  }
}

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

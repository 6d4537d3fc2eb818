import { AckhookError } from '@ackhook/core'
import { withAdvice } from '@ackhook/core/advice'
import type { StoreNotice } from '@ackhook/core/spi'
import { isError } from '@ackhook/core/spi'

export function mayEvict(policy: string): StoreNotice {
  return {
    code: 'redis_may_evict',
    message: `Redis may evict remembered ids: its maxmemory-policy is '${policy}'. An event whose id was evicted runs again when it is redelivered. Set maxmemory-policy to noeviction.`,
  }
}

export function policyUnknown(error: unknown): StoreNotice {
  return {
    code: 'redis_policy_unknown',
    message: `The maxmemory-policy of Redis could not be read (${reasonOf(error)}). Make sure that it is noeviction, or remembered ids may be evicted.`,
  }
}

export function failingOpen(error: unknown): StoreNotice {
  return {
    code: 'redis_failing_open',
    message: `Redis is unavailable (${reasonOf(error)}). With onStoreError: 'process', events are accepted without it: duplicates may run until it is back.`,
  }
}

/** Why the store cannot start: the cause that Redis or the network gives, and the fix if it is known. */
export function cannotStart(cause: unknown): AckhookError {
  const problem = isReply(cause)
    ? "Redis refuses redisStore's commands"
    : 'Redis does not respond to redisStore'
  return new AckhookError('store_unavailable', withAdvice(problem, cause, 'redis'), { cause })
}

function isReply(cause: unknown): boolean {
  return isError(cause) && cause.name === 'ReplyError'
}

function reasonOf(error: unknown): string {
  return isError(error) ? error.message : String(error)
}

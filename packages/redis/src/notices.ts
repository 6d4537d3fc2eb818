import { AckhookError } from '@ackhook/core'
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

export function notAnswering(cause: unknown): AckhookError {
  const message = `Redis does not respond (${reasonOf(cause)}): check that it runs, and that redisStore's client has the right address, password and TLS settings.`
  return new AckhookError('store_unavailable', message, { cause })
}

export function refused(cause: unknown): AckhookError {
  const message = `Redis refuses redisStore's client (${reasonOf(cause)}): give the client the right password, and the username if there is one.`
  return new AckhookError('store_unavailable', message, { cause })
}

function reasonOf(error: unknown): string {
  return isError(error) ? error.message : String(error)
}

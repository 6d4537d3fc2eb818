import type { StoreNotice } from '@ackhook/core/spi'

export function mayEvict(policy: string): StoreNotice {
  return {
    code: 'redis_may_evict',
    message: `Redis may evict remembered ids: its maxmemory-policy is '${policy}'. An event whose id was evicted runs again when it is delivered again. Set maxmemory-policy to noeviction.`,
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
    message: `Redis is unavailable (${reasonOf(error)}). Events are accepted without it, as onStoreError: 'process' asks: duplicates may run until it is back.`,
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

import type { DedupeStore } from '@ackhook/core'
import { type Claim, type StoreNotice, withDeadline } from '@ackhook/core/spi'
import { type Answer, createScriptLine } from './batched-script.ts'
import { createBreaker } from './breaker.ts'
import { meansUnavailable } from './errors.ts'
import { evictionPolicies } from './eviction-policy.ts'
import { type RedisStoreOptions, resolveOptions } from './options.ts'
import type { RedisClient } from './redis-client.ts'
import { CLAIM, COMPLETE, claimAlone, EXTEND, RELEASE, type Script } from './scripts.ts'
import { createDeadlines } from './timeouts.ts'

const CLAIMED: Claim = { outcome: 'claimed' }
const FULL: Claim = { outcome: 'full' }

/**
 * The memory of ids in Redis, shared by every process that uses the same Redis and prefix. Each call is one
 * atomic step on one key, judged by Redis' clock, and settles within `timeout` whatever the client's settings.
 * A call that fails rejects with an `AckhookError` of code `store_unavailable`, and the sender hears 503.
 *
 * Throws `ConfigurationError` for a wrong option or something that is no client.
 *
 * @example
 * webhooks({ secret, store: redisStore(new Redis(url)) })
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): DedupeStore {
  const { prefix, timeoutMs, failOpen } = resolveOptions(client, options)
  const breaker = createBreaker()
  const parts = { client, breaker, deadlines: createDeadlines(timeoutMs) }
  const line = (script: Script) => createScriptLine(script, parts)
  const claims = createScriptLine(CLAIM, { ...parts, alone: claimAlone })
  const extensions = line(EXTEND)
  const completions = line(COMPLETE)
  const releases = line(RELEASE)
  let report: ((notice: StoreNotice) => void) | undefined
  let failingOpen = false

  async function claim(key: string, token: string, leaseMs: number): Promise<Claim> {
    const late = failOpen ? undefined : (answer: Answer) => giveBack(key, token, answer)
    try {
      const answer = toClaim(await claims.ask(prefix + key, [token, whole(leaseMs)], late))
      if (failOpen && answer === FULL) return claimAnyway(new Error('it has no memory for another claim'))
      failingOpen = false
      return answer
    } catch (error) {
      if (!failOpen) throw error
      return claimAnyway(error)
    }
  }

  /** Told once for each outage, and not for each event of it. */
  function claimAnyway(error: unknown): Claim {
    if (!failingOpen) report?.(failingOpenNotice(error))
    failingOpen = true
    return CLAIMED
  }

  /** The caller was told of a failure by then: nobody would use this lease, and a retry would wait for its end. */
  function giveBack(key: string, token: string, [outcome]: Answer): void {
    if (outcome === 0) releases.ask(prefix + key, [token]).catch(() => {})
  }

  /** Never rejects: a Redis that is away must not keep the receiver from starting. */
  async function checkPolicy(): Promise<void> {
    const attempt = breaker.enter()
    try {
      const reading = evictionPolicies(client)
      const policies = await withDeadline(reading, { operation: 'redisStore.start', ms: timeoutMs })
      attempt?.succeeded()
      const evicting = policies.find(policy => policy !== undefined && policy !== 'noeviction')
      if (evicting !== undefined) report?.(evictionNotice(evicting))
      else if (policies.includes(undefined)) report?.(unknownPolicyNotice('INFO memory does not name it'))
    } catch (error) {
      if (meansUnavailable(error)) attempt?.failed(error)
      else attempt?.succeeded()
      report?.(unknownPolicyNotice(error))
    }
  }

  return {
    bounded: true,
    claim: (key, token, { leaseMs }) => claim(key, token, leaseMs),
    extend: async (key, token, leaseMs) => yes(await extensions.ask(prefix + key, [token, whole(leaseMs)])),
    complete: async (key, token, { retentionMs, fingerprint }) =>
      yes(await completions.ask(prefix + key, [token, whole(retentionMs), String(fingerprint)])),
    release: async (key, token) => yes(await releases.ask(prefix + key, [token])),
    start(reporter) {
      report = reporter
      return checkPolicy()
    },
  }
}

function toClaim([outcome, detail = 0]: Answer): Claim {
  if (outcome === 0) return CLAIMED
  if (outcome === 1) return { outcome: 'in_flight', retryAfterMs: detail }
  if (outcome === 2) return { outcome: 'completed', fingerprint: detail }
  return FULL
}

function yes([answer]: Answer): boolean {
  return answer === 1
}

/** Redis takes whole milliseconds, and none is an error. */
function whole(ms: number): string {
  return String(Math.max(1, Math.ceil(ms)))
}

function evictionNotice(policy: string): StoreNotice {
  return {
    code: 'redis_may_evict',
    message: `Redis may evict remembered ids: its maxmemory-policy is '${policy}'. An event whose id was evicted runs again when it is delivered again. Set maxmemory-policy to noeviction.`,
  }
}

function unknownPolicyNotice(error: unknown): StoreNotice {
  return {
    code: 'redis_policy_unknown',
    message: `The maxmemory-policy of Redis could not be read (${error instanceof Error ? error.message : error}). Make sure that it is noeviction, or remembered ids may be evicted.`,
  }
}

function failingOpenNotice(error: unknown): StoreNotice {
  return {
    code: 'redis_failing_open',
    message: `Redis is unavailable (${error instanceof Error ? error.message : error}). Events are accepted without it, as onStoreError: 'process' asks: duplicates may run until it is back.`,
  }
}

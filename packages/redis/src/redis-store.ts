import type { DedupeStore } from '@ackhook/core'
import {
  type Claim,
  type ClaimOptions,
  type CompleteOptions,
  createTimeouts,
  earlierVersion,
  type KeptRuns,
  KeptUndos,
  type StoredId,
  type StoreNotice,
  withDeadline,
} from '@ackhook/core/spi'
import { BatchedScript } from './batched-script.ts'
import { confirmedByReplicas } from './confirmed-by-replicas.ts'
import { hadNoConnection } from './connection-reason.ts'
import { hasEarlierIds } from './earlier-ids.ts'
import { evictionPolicies } from './eviction-policy.ts'
import { isConnectionError } from './is-connection-error.ts'
import { Links } from './links.ts'
import { cannotStart, failingOpen, mayEvict, policyUnknown } from './notices.ts'
import { type RedisStoreOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import type { RedisClient } from './redis-client.ts'
import {
  AS_CLAIMED,
  CLAIM,
  COMPLETE,
  claimSingleKey,
  EXTEND,
  FORGET,
  LOOKUP,
  OUTCOME,
  RELEASE,
  type Reply,
  tokenText,
} from './scripts.ts'

const CLAIMED: Claim = { outcome: 'claimed' }
const COMPLETED: Claim = { outcome: 'completed' }
const CONFLICT: Claim = { outcome: 'conflict' }
const FULL: Claim = { outcome: 'full' }
/** Interval between policy checks: an operator may change the policy, or a failover lead to a server with another one. */
const RECHECK_POLICY_MS = 60_000
const CONNECT_POLL_MS = 50
/** Keys of a Cluster to which a start tries to write. */
const CLUSTER_PROBES = 8

/**
 * Creates a store of handled ids in Redis, shared by every process that uses the same Redis and prefix. Each call is
 * one atomic step on one key, uses the server's clock, and settles within `timeout` whatever the client's settings. A failed
 * call rejects with an `AckhookError` of code `store_unavailable`, and the sender gets 503.
 *
 * Throws `ConfigurationError` for a wrong option or client.
 *
 * @example
 * webhooks({ secret, store: redisStore(new Redis(url)) })
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): DedupeStore {
  const store = new RedisStore(client, resolveOptions(client, options))
  // An object of functions, so that an application can wrap the store by spreading it.
  return {
    bounded: true,
    countsRuns: true,
    claim: (key, token, claim) => store.claim(key, token, claim),
    extend: (key, token, leaseMs) => store.extend(key, token, leaseMs),
    complete: (key, token, completion) => store.complete(key, token, completion),
    release: (key, token, kept) => store.release(key, token, kept),
    forget: key => store.forget(key),
    lookup: key => store.lookup(key),
    start: report => store.start(report),
  }
}

class RedisStore {
  readonly #options: ResolvedOptions
  readonly #links: Links
  readonly #claims: BatchedScript
  readonly #extensions: BatchedScript
  readonly #completions: BatchedScript
  readonly #releases: BatchedScript
  readonly #forgets: BatchedScript
  readonly #lookups: BatchedScript
  readonly #undos = new KeptUndos()
  #report: ((notice: StoreNotice) => void) | undefined
  /** Notice about the eviction policy, and the time it was read. Monotonic milliseconds. */
  #policyNotice: string | undefined
  #policyReadAt = Number.POSITIVE_INFINITY
  /** True once the current outage has been reported. */
  #failingOpen = false

  constructor(client: RedisClient, options: ResolvedOptions) {
    this.#options = options
    this.#links = new Links(client, { ownOnly: options.confirmation !== undefined })
    const timeouts = createTimeouts(options.timeoutMs)
    const parts = { links: this.#links, isCluster: client.isCluster === true, timeouts }
    const { confirmation } = options
    this.#claims = new BatchedScript(CLAIM, { ...parts, confirmation, runSingle: claimSingleKey })
    this.#extensions = new BatchedScript(EXTEND, parts)
    this.#completions = new BatchedScript(COMPLETE, { ...parts, confirmation })
    this.#releases = new BatchedScript(RELEASE, parts)
    this.#forgets = new BatchedScript(FORGET, parts)
    this.#lookups = new BatchedScript(LOOKUP, parts)
  }

  async claim(key: string, token: string, options: ClaimOptions): Promise<Claim> {
    const { leaseMs, countForMs, isRunning } = options
    const { prefix, failOpen } = this.#options
    if (performance.now() - this.#policyReadAt > RECHECK_POLICY_MS) void this.#recheckPolicy()
    const undo = (): void => this.#undos.add(() => this.#undo(key, token), leaseMs)
    const isKept = failOpen || isRunning === true
    const keep = countForMs === undefined ? '0' : wholeMs(countForMs)
    try {
      const args = [tokenText(token), wholeMs(leaseMs), keep]
      const claim = toClaim(await this.#claims.run(prefix + key, args, isKept ? undefined : undo), options)
      if (failOpen && claim === FULL)
        return this.#claimAnyway(new Error('it has no memory for another claim'))
      this.#failingOpen = false
      return claim
    } catch (error) {
      if (!failOpen) throw error
      return this.#claimAnyway(error)
    }
  }

  async extend(key: string, token: string, leaseMs: number): Promise<boolean> {
    return isTrue(
      await this.#extensions.run(this.#options.prefix + key, [tokenText(token), wholeMs(leaseMs)]),
    )
  }

  async complete(
    key: string,
    token: string,
    { retentionMs, fingerprint }: CompleteOptions,
  ): Promise<boolean> {
    const args = [tokenText(token), wholeMs(retentionMs), String(toStoredFingerprint(fingerprint))]
    return isTrue(await this.#completions.run(this.#options.prefix + key, args))
  }

  async release(key: string, token: string, kept?: KeptRuns): Promise<boolean> {
    const count =
      kept === undefined ? ['', '0'] : [`${kept.lapses}:${kept.attempts}`, wholeMs(kept.countForMs)]
    return isTrue(await this.#releases.run(this.#options.prefix + key, [tokenText(token), ...count]))
  }

  async forget(key: string): Promise<boolean> {
    return isTrue(await this.#forgets.run(this.#options.prefix + key, []))
  }

  async lookup(key: string): Promise<StoredId> {
    const [outcome, leftMs = 0] = await this.#lookups.run(this.#options.prefix + key, [])
    if (outcome === OUTCOME.completed) return { state: 'handled', leftMs }
    return { state: outcome === OUTCOME.inFlight ? 'claimed' : 'unknown' }
  }

  /**
   * Makes a write that changes nothing, and checks the eviction policy. Rejects if Redis does not respond, or refuses the
   * write, like an inbox whose engine is unavailable: the next request or call of `start()` tries again. With
   * `failOpen`, reports the failure instead.
   */
  async start(report: (notice: StoreNotice) => void): Promise<void> {
    this.#report = report
    this.#policyNotice = undefined
    const link = this.#links.any
    const permit = link.enter()
    const { client, reason } = link.connection
    try {
      await this.#tryToWrite(client)
      permit?.succeeded()
    } catch (failure) {
      const cause = reason.of(failure)
      if (isConnectionError(failure)) permit?.failed(cause)
      else permit?.succeeded()
      this.#startWithout(cause)
      return
    }
    await this.#refuseEarlier(client)
    await this.#readPolicies(client).then(
      policies => this.#reportPolicies(policies),
      error => report(policyUnknown(error)),
    )
  }

  /** Rejects while ids of an earlier form are there. A user who may not list keys is not asked for more rights. */
  async #refuseEarlier(client: RedisClient): Promise<void> {
    const { earlierPrefix: prefix, timeoutMs } = this.#options
    const found = withDeadline(hasEarlierIds(client, prefix), {
      operation: 'redisStore.start',
      ms: timeoutMs,
    })
    if (!(await found.catch(() => false))) return
    throw earlierVersion(`There are ids under the prefix '${prefix}'`, {
      code: 'store_unavailable',
      let: 'run until they have expired, or delete them',
    })
  }

  /**
   * Deletes keys that do not exist: refused by a read-only server, one that may not write without its replicas or
   * its disk, and for a user without the permission. A client that is not connected yet has the whole time, whether
   * it queues commands or refuses them.
   */
  async #tryToWrite(client: RedisClient): Promise<void> {
    const { prefix, timeoutMs, confirmation } = this.#options
    const commands = confirmation === undefined ? client : confirmedByReplicas(client, confirmation)
    // A Cluster without one of its masters still serves the others' slots.
    const keys = Array.from(
      { length: client.isCluster === true ? CLUSTER_PROBES : 1 },
      (_, i) => `${prefix}start${i}`,
    )
    const endsAt = performance.now() + timeoutMs
    for (;;) {
      const leftMs = Math.max(1, endsAt - performance.now())
      try {
        const deleted = keys.map(key => commands.call('del', key))
        await withDeadline(Promise.any(deleted), { operation: 'redisStore.start', ms: leftMs })
        return
      } catch (failure) {
        const [error = failure] = Object(failure as AggregateError).errors ?? []
        if (leftMs < CONNECT_POLL_MS || client.status === 'end' || !hadNoConnection(error)) throw error
        await new Promise(resolve => setTimeout(resolve, CONNECT_POLL_MS))
      }
    }
  }

  #readPolicies(client: RedisClient): Promise<readonly (string | undefined)[]> {
    this.#policyReadAt = performance.now()
    const limit = { operation: 'redisStore.start', ms: this.#options.timeoutMs }
    return evictionPolicies(client, policy => withDeadline(policy, limit))
  }

  #reportPolicies(policies: readonly (string | undefined)[]): void {
    const evicting = policies.find(policy => policy !== undefined && policy !== 'noeviction')
    const unknown = policies.includes(undefined)
      ? policyUnknown('INFO memory does not include it')
      : undefined
    const notice = evicting === undefined ? unknown : mayEvict(evicting)
    if (notice !== undefined && notice.message !== this.#policyNotice) this.#report?.(notice)
    this.#policyNotice = notice?.message
  }

  async #recheckPolicy(): Promise<void> {
    // Ignores a failed read: start() has reported the reason, or claims will show it.
    await this.#readPolicies(this.#links.any.connection.client).then(
      policies => this.#reportPolicies(policies),
      () => {},
    )
  }

  #startWithout(cause: unknown): void {
    if (!this.#options.failOpen) throw cannotStart(cause)
    this.#claimAnyway(cause)
  }

  /** Claims without Redis. Reports that once per outage, not per event. */
  #claimAnyway(error: unknown): Claim {
    if (!this.#failingOpen) this.#report?.(failingOpen(error))
    this.#failingOpen = true
    return CLAIMED
  }

  /**
   * Releases a claim whose caller has received a failure: a retry would wait until the lease expires. `false` if there is
   * none yet: Redis may run a command that it has read long after its connection was replaced.
   */
  async #undo(key: string, token: string): Promise<boolean> {
    return isTrue(await this.#releases.run(this.#options.prefix + key, [tokenText(token), AS_CLAIMED, '0']))
  }
}

function toClaim(
  [outcome, detail = 0, attempts = 0]: Reply,
  { fingerprint, countForMs }: ClaimOptions,
): Claim {
  switch (outcome) {
    case OUTCOME.claimed:
      return countForMs === undefined ? CLAIMED : { outcome: 'claimed', runs: { lapses: detail, attempts } }
    case OUTCOME.inFlight:
      return { outcome: 'in_flight', retryAfterMs: detail }
    case OUTCOME.completed:
      return detail === toStoredFingerprint(fingerprint) ? COMPLETED : CONFLICT
    default:
      return FULL
  }
}

/**
 * Reduces a fingerprint to 10,000 values. Redis holds one shared object for each number below that, so the fingerprint
 * takes no memory there. In return one changed body in 10,000 goes unreported; none runs twice.
 */
function toStoredFingerprint(fingerprint: number): number {
  return (fingerprint >>> 0) % 10_000
}

function isTrue([answer]: Reply): boolean {
  return answer === 1
}

/** Rounds up to whole milliseconds, at least one, as Redis requires. */
function wholeMs(ms: number): string {
  return String(Math.max(1, Math.ceil(ms)))
}

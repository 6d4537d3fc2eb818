import { LRUCache } from 'lru-cache'
import { platform } from '#platform'
import { ConfigurationError } from '../errors/errors.ts'
import { Refusal } from '../errors/refusal.ts'
import { answerInTime } from '../lib/deadline.ts'
import { refuseGenerator } from '../lib/lazy-value.ts'
import type { MaybePromise } from '../lib/maybe-promise.ts'
import type { Logger } from '../observe/logger.ts'
import type { Mac } from '../platform/platform.ts'
import { isPrinted, PRINTED_FAULT } from './printed-secrets.ts'

/** One secret, or several during a rotation. */
export type Secret = string | readonly string[]

/**
 * Returns the secrets for a request's context, for many workspaces behind one route. Return `null` for an unknown
 * workspace (401); any other unusable value, and any exception, is a fault on this side (500).
 */
export type SecretResolver<Context> = (context: Context) => MaybePromise<Secret | null>

/** Value of the option `secret`: secrets, or a function of the request that returns them. */
export type SecretSource<Context> = Secret | SecretResolver<Context>

/** Prepared secrets, or a function that prepares those of one request. */
export type PreparedSecrets<Context> =
  | readonly Mac[]
  | ((context: Context) => Promise<readonly Mac[] | Refusal>)

const MIN_BYTES = 16
const MAX_SECRETS = 100
const MAX_PREPARED = 1000

/**
 * Prepares secrets. Throws {@link ConfigurationError} for an empty, blank, short or printed one that is known at
 * construction.
 */
export function createSecrets<Context>(
  source: SecretSource<Context>,
  logger: Logger,
): PreparedSecrets<Context> {
  const refuseOrTell = printedRule(logger)
  refuseGenerator('secret', source)
  if (typeof source === 'function') return perRequest(source, refuseOrTell)
  const secrets = [source].flat()
  const fault = secretsFault(secrets) ?? refuseOrTell(secrets)
  if (fault !== undefined) throw new ConfigurationError('secret', fault)
  const padding = secrets.map(paddingOf).find(one => one !== undefined)
  if (padding !== undefined) {
    logger.warn(
      { code: 'secret_padded' },
      `A signing secret ${padding}. It is used unchanged; remove them if deliveries are refused.`,
    )
  }
  return secrets.map(platform.hmac)
}

/** Returns what a file or a shell has probably added to a secret: `.env` files keep quotes in some tools. */
function paddingOf(secret: string): string | undefined {
  if (secret !== secret.trim()) return 'begins or ends with white space characters'
  return /^(["']).*\1$/s.test(secret) ? 'begins and ends with quotation marks' : undefined
}

/** Returns what is wrong with secrets that the documentation prints. Where nothing tells who runs the process, warns once. */
function printedRule(logger: Logger): (secrets: readonly string[]) => string | undefined {
  let isTold = false
  return secrets => {
    const isTrial = secrets.some(isPrinted) ? platform.isTrial() : true
    if (isTrial === false) return PRINTED_FAULT
    if (isTrial === undefined && !isTold) {
      isTold = true
      logger.warn(
        { code: 'secret_printed' },
        'The signing secret is printed in the documentation, so anyone can sign with it. Before production, use one of your own.',
      )
    }
    return undefined
  }
}

function perRequest<Context>(
  resolve: SecretResolver<Context>,
  refuseOrTell: (secrets: readonly string[]) => string | undefined,
): PreparedSecrets<Context> {
  const prepared = new LRUCache<string, Mac>({ max: MAX_PREPARED, memoMethod: platform.hmac })
  return async context => {
    try {
      const secret = await answerInTime(resolve(context), 'the secret function')
      if (secret === null)
        return new Refusal('secret_unknown', { detail: 'the secret function returned null' })
      const secrets = [secret].flat()
      // One that is prepared has passed.
      const unknown = secrets.filter(one => !prepared.has(one))
      const fault = secretsFault(secrets) ?? refuseOrTell(unknown)
      if (fault === undefined) return secrets.map(one => prepared.memo(one))
      return new Refusal('secret_unavailable', { detail: `the secret function's result ${fault}` })
    } catch (cause) {
      return new Refusal('secret_unavailable', { detail: 'the secret function failed', cause })
    }
  }
}

/** Describes what is wrong with these secrets. Never includes them. */
export function secretsFault(secrets: readonly string[]): string | undefined {
  if (secrets.length === 0) return 'must hold at least one secret; got an empty list'
  if (secrets.length > MAX_SECRETS) return `must hold at most ${MAX_SECRETS} secrets; got ${secrets.length}`
  for (const secret of secrets) {
    if (secret === undefined || secret === null) {
      return "must be the endpoint's signing secret; got undefined: set the environment variable"
    }
    if (typeof secret !== 'string') return `must be a string; got ${typeof secret}`
    if (secret.trim() === '') return 'must not be empty or blank: anyone could sign with it'
    if (new TextEncoder().encode(secret).length < MIN_BYTES) {
      return `must be at least ${MIN_BYTES} bytes long: a shorter one can be guessed`
    }
  }
  return undefined
}

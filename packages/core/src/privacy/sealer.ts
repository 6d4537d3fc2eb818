import { AckhookError, ConfigurationError } from '../errors/errors.ts'
import {
  isSealedBody,
  markSealed,
  parseReason,
  reasonBytes,
  sealedError,
  sealedPart,
} from '../inbox/sealed.ts'
import { show } from '../lib/check-option.ts'
import { answerInTime } from '../lib/deadline.ts'
import type { MaybePromise } from '../lib/maybe-promise.ts'

/** What {@link SealOptions} get besides the bytes. */
export interface SealContext {
  /** Namespace of the event, for a key of each tenant. */
  readonly namespace: string
}

/** Options of `sealedInbox`. Both functions may be asynchronous, and have five seconds. */
export interface SealOptions {
  /** Encrypts bytes. Its result must name the key, so that `open` finds it after a rotation. */
  readonly seal: (bytes: Uint8Array, context: SealContext) => MaybePromise<Uint8Array>
  /** Returns the bytes that `seal` was given. Throws, or rejects, if it has not the key, or the bytes were changed. */
  readonly open: (sealed: Uint8Array, context: SealContext) => MaybePromise<Uint8Array>
}

const PROBE = 'ackhook: a text that must not be readable once it is sealed'

/** Calls the user's functions, and checks what they return. */
export class Sealer {
  readonly #options: SealOptions

  constructor(options: SealOptions) {
    for (const name of ['seal', 'open'] as const)
      if (typeof options[name] !== 'function')
        throw new ConfigurationError(name, `must be a function of bytes; got ${show(options[name])}`)
    this.#options = options
  }

  /** Rejects if the functions are no pair, before an event is stored that nobody could read. */
  async check(): Promise<void> {
    const probe = new TextEncoder().encode(PROBE)
    const context = { namespace: '' }
    const sealed = await this.#try('seal', probe.slice(), context)
    if (new TextDecoder('latin1').decode(sealed).includes(PROBE))
      throw new ConfigurationError('seal', 'returned bytes in which the text can still be read: encrypt them')
    const opened = await this.#try('open', sealed, context)
    if (new TextDecoder('latin1').decode(opened) !== PROBE)
      throw new ConfigurationError('open', 'must return the bytes that seal was given, and returned others')
  }

  async #try(name: 'seal' | 'open', bytes: Uint8Array, context: SealContext): Promise<Uint8Array> {
    try {
      return await this.#call(name, bytes, context)
    } catch (cause) {
      if (cause instanceof ConfigurationError) throw cause
      throw new AckhookError('inbox_unavailable', `The option '${name}' of the sealed inbox failed.`, {
        cause,
      })
    }
  }

  async sealBody(body: Uint8Array, context: SealContext): Promise<Uint8Array> {
    return markSealed(await this.#call('seal', body, context))
  }

  /** Returns a body that was stored before sealing was turned on as it is. */
  async openBody(body: Uint8Array, context: SealContext): Promise<Uint8Array> {
    return isSealedBody(body) ? this.#call('open', sealedPart(body), context) : body
  }

  /** Never rejects: a failure to seal a text must not keep a result from being recorded. */
  async sealError(
    letter: { readonly id: string; readonly type: string; readonly reason: string },
    context: SealContext,
  ): Promise<Error> {
    try {
      return sealedError(letter, await this.#call('seal', reasonBytes(letter.reason), context))
    } catch {
      return sealedError(letter, undefined)
    }
  }

  /** Returns a text that was stored unsealed, or that cannot be opened, as it is. Never rejects. */
  async openReason(reason: string, context: SealContext): Promise<string> {
    const { sealed } = parseReason(reason) ?? {}
    if (sealed === undefined) return reason
    try {
      return new TextDecoder().decode(await this.#call('open', sealed, context))
    } catch {
      return reason
    }
  }

  async #call(name: 'seal' | 'open', bytes: Uint8Array, context: SealContext): Promise<Uint8Array> {
    const returned: unknown = await answerInTime(this.#options[name](bytes, context), name)
    if (returned instanceof Uint8Array) return returned
    throw new ConfigurationError(name, `must return a Uint8Array; returned ${show(returned)}`)
  }
}

import { CODES } from '../errors/codes.ts'
import { AckhookError } from '../errors/errors.ts'
import { Refusal } from '../errors/refusal.ts'
import { createDecoder } from '../events/decode-event.ts'
import { eventKey } from '../events/event-key.ts'
import type { EventHandler, EventSchemas, KnownEvents } from '../events/event-types.ts'
import { screenHead } from '../http/check-head.ts'
import { replyFor, replyLater } from '../http/reply.ts'
import type { ReadBody, WebhookReply, WebhookRequest } from '../http/request.ts'
import type { Acceptance } from '../inbox/acceptance.ts'
import type { Delivery } from '../inbox/delivery.ts'
import { createToDelivery } from '../inbox/delivery.ts'
import type { DrainReport } from '../inbox/inbox.ts'
import { isAnothers, leaveInbox, takeInbox } from '../inbox/inbox-owner.ts'
import { keepAlive } from '../inbox/keep-alive.ts'
import { wholeNumber } from '../lib/check-option.ts'
import { withDeadline } from '../lib/deadline.ts'
import { durationMs } from '../lib/duration.ts'
import { andThen, isPromise, type MaybePromise, orElse } from '../lib/maybe-promise.ts'
import { createRefusalLog, createStoreLog } from '../observe/failure-log.ts'
import { guardObserver } from '../observe/guards.ts'
import type { Observation } from '../observe/observation.ts'
import { createSecrets } from '../verify/secrets.ts'
import { createVerifier } from '../verify/verify-request.ts'
import { createHandlerRegistry } from '../worker/handler-registry.ts'
import { createWorker } from '../worker/worker.ts'
import { type ReceiverOptions, resolveOptions } from './options.ts'
import { outcomeOf } from './outcome-of.ts'
import type { InNamespace, Receiver } from './receiver.ts'
import { handleOf } from './reply-to.ts'
import { type Tap, tapMember, tapProcess } from './tap.ts'

const MOST_WAIT_FOR_START_MS = 1000

/**
 * Makes a receiver. Throws `ConfigurationError` for a wrong option.
 *
 * @example
 * const receiver = createReceiver({ secret: process.env['SIGNING_SECRET'] })
 * receiver.on('conversation.resolved', async event => {
 *   await crm.close(event.data.conversation_id)
 * })
 */
export function createReceiver<const Schemas extends EventSchemas = Record<never, never>, Context = unknown>(
  options: ReceiverOptions<Schemas, Context>,
): Receiver<KnownEvents<Schemas>, Context> {
  const resolved = resolveOptions<Context>(options)
  const { inbox, logger, contract, bodyLimits } = resolved
  const observe = resolved.observe && guardObserver(resolved.observe, logger)
  const logRefusal = createRefusalLog(logger)
  const logStore = createStoreLog(logger)
  const verify = createVerifier({ ...resolved, macs: createSecrets(resolved.secret, logger) })
  const decode = createDecoder(contract, resolved.schemas)
  const toDelivery = createToDelivery(resolved)
  const handlers = createHandlerRegistry()
  const taps: Tap[] = []
  let starting: Promise<void> | undefined
  let started = false
  let draining: Promise<DrainReport> | undefined

  /** Steps 2 to 9. Up to `inbox.accept` a crash costs nothing: the sender has heard nothing and retries. */
  function respond(request: WebhookRequest<Context>, write: (reply: WebhookReply) => void): void {
    const startedAt = observe === undefined ? 0 : performance.now()
    let hasBody = false
    const goOn = (body: Uint8Array | Refusal): void => {
      if (hasBody) return
      hasBody = true
      void andThen(judge(request, body, startedAt), outcome =>
        write(outcome instanceof Refusal ? refuse(outcome, startedAt) : outcome),
      )
    }
    observe?.({ kind: 'received' })
    const body = bodyOf(request, goOn)
    if (isPromise(body)) void body.then(goOn, cause => goOn(broken(cause)))
    else if (body !== undefined) goOn(body)
  }

  /** Step 2: the bytes, at once or by a promise, or by a call of `done`. */
  function bodyOf(
    request: WebhookRequest<Context>,
    done: (body: Uint8Array | Refusal) => void,
  ): ReturnType<ReadBody> {
    try {
      const unacceptable = screenHead(request, bodyLimits)
      if (unacceptable !== undefined) return unacceptable
      if (draining !== undefined) return new Refusal('draining')
      const { body } = request
      if (typeof body !== 'function') return body ?? broken(new TypeError(NO_BYTES))
      const read = body(bodyLimits, done)
      if (read === undefined && body.length < 2) throw new TypeError(NO_BYTES)
      return read
    } catch (cause) {
      return broken(cause)
    }
  }

  /** Steps 3 to 9. Whatever is thrown on the way is a fault on this side: 500, and the sender keeps the event. */
  function judge(
    request: WebhookRequest<Context>,
    body: Uint8Array | Refusal,
    startedAt: number,
  ): MaybePromise<WebhookReply | Refusal> {
    if (body instanceof Refusal) return body
    // Not `instanceof Uint8Array`: the bytes may come from another realm, as in some test runners.
    if (!ArrayBuffer.isView(body)) return broken(new TypeError(NO_BYTES))
    if (body.length > bodyLimits.maxBytes) return new Refusal('body_too_large')
    return orElse<WebhookReply | Refusal>(
      () =>
        andThen(verify(request.headers, body, request.context), untrusted => {
          if (untrusted !== undefined) return untrusted
          return andThen(decode(body), event => {
            if (event instanceof Refusal) return event
            return andThen(toDelivery(event, body, request), delivery =>
              andThen(accept(delivery), answer => acknowledge(delivery, answer, startedAt)),
            )
          })
        }),
      broken,
    )
  }

  /** Step 8. */
  function accept(delivery: Delivery): MaybePromise<Acceptance | Refusal> {
    // The drain may have begun while the body was read: nothing is accepted after that.
    if (draining !== undefined) return new Refusal('draining')
    if (!started) return startInTime(delivery).then(() => accept(delivery), unavailable)
    try {
      const acceptance = inbox.accept(delivery)
      return isPromise(acceptance) ? acceptance.catch(unavailable) : acceptance
    } catch (cause) {
      return unavailable(cause)
    }
  }

  /** Step 9. Once this is written, the sender never repeats the event. */
  function acknowledge(
    delivery: Delivery,
    answer: Acceptance | Refusal,
    startedAt: number,
  ): WebhookReply | Refusal {
    const code = answer instanceof Refusal ? answer : outcomeOf(answer)
    if (code instanceof Refusal) return code
    const { id, type, namespace } = delivery
    const conflict = 'conflict' in answer && answer.conflict === true
    if (conflict)
      logger.warn({ event: id, type }, `Event ${id} came again with other bytes; it is not run again.`)
    if (observe !== undefined) {
      const durationMs = performance.now() - startedAt
      // Two whole literals: one that goes on after a spread takes Node 20 five microseconds.
      if (code === 'duplicate') observe({ kind: code, conflict, id, type, namespace, durationMs })
      else observe({ kind: 'accepted', code, id, type, namespace, durationMs })
    }
    return replyFor(code)
  }

  function refuse(refusal: Refusal, startedAt: number): WebhookReply {
    const { code, detail, cause } = refusal
    const { status } = CODES[code]
    logRefusal(refusal)
    observe?.({
      kind: 'rejected',
      code,
      status,
      durationMs: performance.now() - startedAt,
      ...(detail !== undefined && { detail }),
      ...(cause !== undefined && { cause }),
    })
    return status === 503 ? replyLater(code, refusal.retryAfterMs) : replyFor(code)
  }

  /** A start may take longer than a sender waits. It goes on, and what comes when it is done is accepted. */
  function startInTime(delivery: Delivery): Promise<void> {
    const isFirst = starting === undefined
    const begun = start()
    return withDeadline(begun, { operation: 'inbox.start', ms: MOST_WAIT_FOR_START_MS }).catch(error => {
      if (isFirst) {
        const settled = begun.catch(() => {})
        keepAlive(delivery, settled, logger)
      }
      throw error
    })
  }

  function tell(observation: Observation): void {
    observe?.(observation)
    logStore(observation)
  }

  function start(): Promise<void> {
    starting ??= begin()
    return starting
  }

  async function begin(): Promise<void> {
    handlers.freeze()
    const worker = createWorker({ ...resolved, handlers, decode, observe })
    const process = tapProcess(worker, taps, { handlers, decode })
    try {
      takeInbox(inbox, handlers)
      await inbox.start(process, {
        ...resolved,
        serialize: resolved.serializeBy !== undefined,
        observe: tell,
      })
      started = true
    } catch (cause) {
      // The next request or call tries again: what the inbox needs may be back by then.
      starting = undefined
      if (isAnothers(inbox, handlers)) throw cause
      leaveInbox(inbox)
      // Deliveries that wait for a slow start are answered before it fails.
      tell({ kind: 'store_down', operation: 'start', error: cause })
      throw cause
    }
  }

  async function drain(timeoutMs: number): Promise<DrainReport> {
    const endsAt = performance.now() + timeoutMs
    // An inbox that hangs while it starts must not keep the process.
    if (!started && starting !== undefined)
      await withDeadline(starting, { operation: 'inbox.start', ms: timeoutMs }).catch(() => {})
    if (isAnothers(inbox, handlers)) return { lost: 0 }
    const report = await inbox.close(Math.max(0, Math.ceil(endsAt - performance.now())))
    leaveInbox(inbox)
    if (report.lost > 0) {
      logger.error(report, `${report.lost} acknowledged events were not handled before the drain ended.`)
    }
    return report
  }

  const { deadLetters } = inbox
  return {
    on(type, handler) {
      handlers.add(type, handler as EventHandler<never>)
      return this
    },
    onUnhandled(handler) {
      handlers.addListener('onUnhandled', handler)
      return this
    },
    onError(handler) {
      handlers.addListener('onError', handler)
      return this
    },
    onDeadLetter(handler) {
      handlers.addListener('onDeadLetter', handler)
      return this
    },
    handle: handleOf(respond),
    async start() {
      if (draining !== undefined)
        throw new AckhookError('draining', 'start() came after close(): make a new receiver.')
      return start()
    },
    async close({ timeout = '10s' } = {}) {
      draining ??= drain(durationMs(timeout, { option: 'timeout', minMs: 0, maxMs: 3_600_000 }))
      return draining
    },
    stats: async () => inbox.stats(),
    deadLetters: {
      list: async ({ limit = 100 } = {}) =>
        deadLetters.list({ limit: wholeNumber('limit', limit, 1, 1_000_000) }),
      get: async (id, where) => deadLetters.get(await keyOf(id, where)),
      redrive: async (id, where) => deadLetters.redrive(await keyOf(id, where)),
      discard: async (id, where) => deadLetters.discard(await keyOf(id, where)),
    },
    ...tapMember(tap => {
      handlers.check('tapReceiver', tap)
      taps.push(tap)
    }),
  }
}

const NO_BYTES =
  'A request needs its exact bytes as body: a Uint8Array, or a function that returns one or hands it to its second argument. For a text write new TextEncoder().encode(text), for an ArrayBuffer new Uint8Array(buffer).'

function broken(cause: unknown): Refusal {
  return new Refusal('internal_error', { cause })
}

function unavailable(cause: unknown): Refusal {
  return new Refusal('inbox_unavailable', { cause })
}

function keyOf(id: string, { namespace = '' }: InNamespace = {}): MaybePromise<string> {
  return eventKey(namespace, id)
}

/** What every adapter takes: options, or a receiver that something else may share. */
export function toReceiver<const Schemas extends EventSchemas, Context>(
  optionsOrReceiver: ReceiverOptions<Schemas, Context> | Receiver<KnownEvents<Schemas>, Context>,
): Receiver<KnownEvents<Schemas>, Context> {
  // Nothing at all is for `createReceiver` to refuse: it says what the options are.
  return isReceiver(optionsOrReceiver) ? optionsOrReceiver : createReceiver(optionsOrReceiver)
}

function isReceiver<T>(value: T): value is Extract<T, { readonly handle: unknown }> {
  return typeof (value as { handle?: unknown } | null | undefined)?.handle === 'function'
}

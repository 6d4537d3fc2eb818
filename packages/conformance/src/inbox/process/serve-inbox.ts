import type { Delivery, Inbox } from '@ackhook/core'
import type { AttemptResult, ProcessEvent, PublishedHandlers } from '@ackhook/core/spi'
import { makePolicy } from '../make-policy.ts'
import type { FromInbox, Method, PlainPolicy, ToInbox } from './messages.ts'

/**
 * Serves an inbox to the process that started this one with {@link inboxProcess}, until it is killed.
 *
 * @example
 * // mortal-inbox.mjs
 * serveInbox(postgresInbox(new Pool({ connectionString: JSON.parse(process.argv[2] ?? '') })))
 */
export function serveInbox(inbox: Inbox): void {
  const results = new Map<number, (result: AttemptResult) => void>()
  const methods = methodsOf(inbox, results)
  process.on('message', (message: ToInbox) => {
    if (message.kind === 'result') results.get(message.run)?.(message.result)
    else void answer(methods[message.method], message.call, message.argument)
  })
  // The parent process is gone.
  process.once('disconnect', () => process.exit())
  send({ kind: 'ready' })
}

async function answer(method: (argument: never) => unknown, call: number, argument: unknown): Promise<void> {
  try {
    send({ kind: 'answer', call, value: await method(argument as never) })
  } catch (error) {
    send({ kind: 'answer', call, error: error as Error })
  }
}

function methodsOf(
  inbox: Inbox,
  results: Map<number, (result: AttemptResult) => void>,
): Readonly<Record<Method, (argument: never) => unknown>> {
  const { deadLetters } = inbox
  return {
    accept: (delivery: Delivery) => inbox.accept(delivery),
    start: (policy: PlainPolicy) => start(inbox, policy, results),
    close: (timeoutMs: number) => inbox.close(timeoutMs),
    stats: () => inbox.stats(),
    forget: (key: string) => inbox.forget(key),
    list: () => deadLetters.list(),
    get: (key: string) => deadLetters.get(key),
    redrive: (key: string) => deadLetters.redrive(key),
    discard: (key: string) => deadLetters.discard(key),
    now: () => deadLetters.now?.(),
  }
}

async function start(
  inbox: Inbox,
  { published, ...policy }: PlainPolicy,
  results: Map<number, (result: AttemptResult) => void>,
): Promise<void> {
  let runs = 0
  const run: ProcessEvent = (delivery, attempt) => {
    const { number, decision, routingToken, abandonReason } = attempt
    const index = runs++
    send({
      kind: 'run',
      run: index,
      delivery,
      attempt: { number, decision, routingToken, abandonReason },
    })
    attempt.onAbort(reason => send({ kind: 'aborted', run: index, reason }))
    return new Promise(resolve => results.set(index, resolve))
  }
  await inbox.start(
    run,
    makePolicy({
      ...policy,
      handlers: published && sharingOf(published),
      observe: observation => send({ kind: 'observed', observation }),
    }),
  )
}

function sharingOf(published: PublishedHandlers) {
  return {
    published,
    share: async ({ board }: { readonly board: { publish(own: PublishedHandlers): unknown } }) =>
      void (await board.publish(published)),
  }
}

function send(message: FromInbox): void {
  if (process.connected) process.send?.(message)
}

import { describe, expect, it, vi } from 'vitest'
import { watch } from '../../../../test/support/receiving.ts'
import { NonRetryableError, RetryAfterError } from '../errors/errors.ts'
import type { WebhookEvent } from '../events/event-types.ts'
import type { Failure } from '../worker/failure.ts'

// An unhandled rejection would end a process, and fails this file.

const bad = (): never => {
  throw new Error('do not look')
}
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
const withGetter = (target: object, name: string): object => Object.defineProperty(target, name, { get: bad })
const later = (value: unknown): object => {
  let reads = 0
  return Object.defineProperty(new AggregateError([]), 'errors', {
    get: () => (reads++ > 2 ? bad() : [value]),
  })
}

const THROWN: [string, () => unknown][] = [
  ['a revoked proxy', revoked],
  ['an AggregateError with a revoked proxy', () => new AggregateError([new Error('one'), revoked()])],
  ['an AggregateError whose errors throw later', () => later(new Error('one'))],
  ['an error without a readable message', () => withGetter(new Error('x'), 'message')],
  ['an error without a readable code', () => withGetter(new NonRetryableError('x'), 'code')],
  ['a delay that cannot be read', () => withGetter(new RetryAfterError('x', '1s'), 'delayMs')],
  [
    'a delay that is a symbol',
    () => Object.defineProperty(new RetryAfterError('x', '1s'), 'delayMs', { value: Symbol('x') }),
  ],
  [
    'a delay that is not a number',
    () => Object.defineProperty(new RetryAfterError('x', '1s'), 'delayMs', { value: Number.NaN }),
  ],
  ['a symbol', () => Symbol('x')],
  ['nothing', () => undefined],
  ['an object without a prototype', () => Object.create(null)],
  ['a thenable that throws', () => Object.fromEntries([['then', bad]])],
  ['an object that cannot become text', () => ({ toString: bad })],
]

describe.each(THROWN)('a handler that throws %s', (_, value) => {
  const raise = () => {
    throw value()
  }

  it.each([
    ['alone', [raise]],
    ['in a promise', [async () => raise()]],
    ['among several', [() => bad(), raise, async () => raise()]],
  ])('%s has failed, and its event is retried and kept', async (_, handlers) => {
    const { receiver, send, seen, logger } = watch({
      retry: { attempts: 2, minDelay: '1ms', maxDelay: '1ms' },
    })
    for (const handler of handlers) receiver.on('*', handler)
    receiver.onError(raise).onDeadLetter(async () => raise())
    expect((await send()).status).toBe(202)
    await vi.waitFor(() => expect(seen.at(-1)).toMatchObject({ kind: 'dead_lettered', attempt: 2 }))
    expect(seen.filter(one => one.kind === 'attempt_failed')).toHaveLength(1)
    expect(logger.lines.filter(line => line.level === 'error')).toHaveLength(1)
    await vi.waitFor(async () => expect(await receiver.stats()).toMatchObject({ active: 0, dead: 1 }))
    expect(await receiver.close()).toEqual({ lost: 0 })
  })

  it('gets a reply if the sender waits', async () => {
    const { receiver, send } = watch({ acknowledge: 'after-processing' })
    receiver.on('*', raise)
    expect([500, 503]).toContain((await send()).status)
  })
})

const CHANGES: [string, (event: Record<string, unknown>) => unknown][] = [
  ['created_at to a symbol', event => (event['created_at'] = Symbol('x'))],
  ['created_at to a revoked proxy', event => (event['created_at'] = revoked())],
  ['created_at to a getter that throws', event => withGetter(event, 'created_at')],
  ['its id to a getter that throws', event => withGetter(event, 'id')],
  ['its type to a getter that throws', event => withGetter(event, 'type')],
  ['its prototype', event => Object.setPrototypeOf(event, revoked())],
]

it('observers, subscribers and loggers that never settle hold up no reply, no handler and no drain', async () => {
  const never = (): Promise<never> => new Promise(() => {})
  const logger = { info: never, warn: never, error: never }
  const { receiver, send } = watch({ observe: never, logger, retry: { attempts: 1 } })
  receiver.subscribe(never)
  let handled = 0
  receiver.on('*', () => {
    handled++
    throw new NonRetryableError('no')
  })
  expect((await send()).status).toBe(202)
  await vi.waitFor(async () => expect(await receiver.stats()).toMatchObject({ active: 0, dead: 1 }))
  expect(handled).toBe(1)
  expect(await receiver.close({ timeout: '1m' })).toEqual({ lost: 0 })
})

it.each(CHANGES)('a handler that changes %s has handled the event', async (_, change) => {
  const { receiver, send, seen } = watch()
  receiver.on('*', event => void change(event as WebhookEvent & Record<string, unknown>))
  await send()
  await vi.waitFor(() => expect(seen.at(-1)).toMatchObject({ kind: 'completed' }))
  expect((await send()).code).toBe('duplicate')
})

it('a listener that destroys its argument destroys a copy', async () => {
  const { receiver, send, seen } = watch({ retry: { attempts: 2, minDelay: '1ms', maxDelay: '1ms' } })
  const destroy = ({ delivery }: Failure) => {
    for (const name of ['key', 'id', 'type', 'namespace', 'body']) withGetter(delivery, name)
  }
  receiver.on('*', bad).onError(destroy).onDeadLetter(destroy)
  await send()
  await vi.waitFor(() => expect(seen.at(-1)).toMatchObject({ kind: 'dead_lettered', attempt: 2 }))
  expect(await receiver.deadLetters.get('evt_1')).toMatchObject({ id: 'evt_1' })
})

it('a listener or a reader that overwrites bytes overwrites copies', async () => {
  const { receiver, send, seen } = watch({ retry: { attempts: 2, minDelay: '1ms', maxDelay: '1ms' } })
  const ids: string[] = []
  const redact = ({ delivery }: Failure) => void delivery.body.fill(0)
  receiver
    .on('*', ({ id }) => {
      ids.push(id)
      throw new Error('no')
    })
    .onError(redact)
    .onDeadLetter(redact)
  await send()
  await vi.waitFor(async () => expect((await receiver.stats()).dead).toBe(1))
  for (const letter of await receiver.deadLetters.list()) letter.body.fill(0)
  ;(await receiver.deadLetters.get('evt_1'))?.body.fill(0)
  expect(await receiver.deadLetters.redrive('evt_1')).toBe(true)
  await vi.waitFor(() => expect(seen.filter(({ kind }) => kind === 'dead_lettered')).toHaveLength(2))
  expect(ids).toEqual(Array(4).fill('evt_1'))
})

it.each([
  ['throws', bad],
  ['returns no time', () => Number.NaN],
  ['returns something else', () => 1n],
])('a clock that %s changes no result, and records have a time', async (_, clock) => {
  let isBroken = false
  const broken = clock as () => number
  const { receiver, send, seen } = watch({ clock: () => (isBroken ? broken() : Date.now()) })
  receiver.on('a.b', () => {
    isBroken = true
    throw new NonRetryableError('never')
  })
  expect((await send({ type: 'a.b' })).status).toBe(202)
  await vi.waitFor(() => expect(seen.at(-1)).toMatchObject({ kind: 'dead_lettered' }))
  await vi.waitFor(async () => expect((await receiver.stats()).dead).toBe(1))
  expect(await receiver.deadLetters.get('evt_1')).toMatchObject({ failedAt: expect.any(Number) })
  // Nothing is proven without a time.
  expect((await send({ id: 'evt_2' })).status).toBeGreaterThanOrEqual(401)
})

import { describe, expect, it, vi } from 'vitest'
import { eventBody, signedRequest, watch } from '../../../../test/support/receiving.ts'
import { NonRetryableError } from '../errors/errors.ts'

/** Delivers events to handlers that return these values, and returns the log lines about them. */
async function linesAfter(types: readonly string[], ...values: unknown[]) {
  const { receiver, logger, seen } = watch()
  for (const value of values) receiver.on('*', () => value)
  let id = 0
  for (const type of types) await receiver.handle(signedRequest(eventBody({ id: `evt_${id++}`, type })))
  await vi.waitFor(() => expect(seen.filter(one => one.kind === 'completed')).toHaveLength(types.length))
  return logger.lines.filter(line => line.fields['code'] === 'value_returned')
}

describe('a value returned from a handler', () => {
  it.each([
    ['false', false],
    ['an error', new Error('failed')],
    ['a reply with the status 400', { status: 400 }],
    ['a reply with the status 500', new Response('no', { status: 500 })],
    ['a reply with the status 200', { statusCode: 200 }],
    ['false', Promise.resolve(false)],
  ])('%s: warned of, once a type', async (what, value) => {
    expect(await linesAfter(['a.b', 'a.b', 'c.d'], value)).toMatchObject([
      { level: 'warn', fields: { type: 'a.b' }, message: expect.stringContaining(`returned ${what}, which`) },
      { level: 'warn', fields: { type: 'c.d' } },
    ])
  })

  it('is found among those of several handlers', async () => {
    expect(await linesAfter(['a.b'], undefined, false)).toHaveLength(1)
  })

  it('is ignored if it cannot mean an outcome, such as the length of an array', async () => {
    expect(await linesAfter(['a.b'], 3, 'done', true, null, { id: 1 }, undefined)).toEqual([])
  })
})

it('fails no event whose handler returned a value that throws when read', async () => {
  const throwing = {
    get status() {
      throw new Error('read too late')
    },
  }
  expect(await linesAfter(['a.b'], throwing)).toEqual([])
})

/** Values whose work nobody begins, or nobody waits for. */
const LAZY: readonly (readonly [what: string, create: (run: () => void) => unknown])[] = [
  [
    'an iterator',
    run =>
      (function* () {
        yield run()
      })(),
  ],
  [
    'an iterator',
    run =>
      (async function* () {
        yield run()
      })(),
  ],
  ['an Observable', run => ({ subscribe: run })],
  ['an Observable', run => ({ subscribe: run, next: run, pipe: run })],
  ['a function', run => async () => run()],
  ['a function', () => class {}],
  ['a list of promises', run => [1, 2].map(async () => run())],
]

describe.each([1, 2])('a handler of %d that returns work which nothing runs', count => {
  it.each(LAZY.flatMap(([what, create]) => [[what, create, false] as const, [what, create, true] as const]))(
    '%s: fails its attempt, with the fix, however it is returned',
    async (what, create, isAsync) => {
      const { receiver, seen, send } = watch({ retry: { attempts: 1 } })
      const dead = vi.fn()
      receiver.onDeadLetter(dead)
      for (let i = 1; i < count; i++) receiver.on('*', () => 'done')
      receiver.on('*', () => {
        const returned = create(() => {})
        return isAsync ? Promise.resolve(returned) : returned
      })
      await send()
      await vi.waitFor(() => expect(dead).toHaveBeenCalledTimes(1))
      const [{ error }] = dead.mock.calls[0] as [{ error: Error }]
      expect(error).toMatchObject({
        code: 'handler_lazy',
        message: expect.stringContaining(`returned ${what}`),
      })
      expect(seen.filter(one => one.kind === 'completed')).toEqual([])
    },
  )
})

it.each([
  ['a list', [1, 'a']],
  ['a string', 'next'],
  ['a page of a list', { next: 'cursor', data: [] }],
  ['null', null],
  ['NaN', Number.NaN],
  ['a Map', new Map()],
])('%s that a handler returns completes its event', async (_, value) => {
  const { receiver, seen, send } = watch()
  receiver.on('*', async () => value)
  await send()
  await vi.waitFor(() => expect(seen.map(({ kind }) => kind)).toContain('completed'))
})

it('a generator is refused where it is registered', () => {
  const { receiver } = watch()
  const generator = function* () {}
  const asyncGenerator = async function* () {}
  const { prepare } = { async *prepare() {} }
  for (const given of [generator, asyncGenerator, prepare]) {
    for (const register of ['onUnhandled', 'onError', 'onDeadLetter'] as const)
      expect(() => receiver[register](given as never)).toThrow(`'${register}': must not be a generator`)
    expect(() => receiver.on('a.b' as never, given)).toThrow("'on('a.b')': must not be a generator")
    expect(() => receiver.subscribe(given as never)).toThrow("'observer': must not be a generator")
    for (const option of ['secret', 'namespace', 'serializeBy', 'observe'])
      expect(() => watch({ [option]: given })).toThrow('must not be a generator')
    expect(() => watch({ contract: { upcast: given as never } })).toThrow("'contract.upcast': must not be")
    expect(() => watch({ concurrency: { by: given as never, perGroup: 1, total: 2 } as never })).toThrow(
      "'concurrency.by': must not be",
    )
  }
})

it('an onDeadLetter that returns such work has accepted no letter: the sender keeps the event', async () => {
  const { receiver, send } = watch({ acknowledge: 'after-processing' })
  receiver.on('*', () => {
    throw new NonRetryableError('never')
  })
  receiver.onDeadLetter(() => async () => {})
  expect(await send()).toMatchObject({ status: 500, code: 'handler_failed' })
})

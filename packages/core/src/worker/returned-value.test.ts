import { describe, expect, it, vi } from 'vitest'
import { eventBody, signedRequest, watch } from '../../../../test/support/receiving.ts'

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

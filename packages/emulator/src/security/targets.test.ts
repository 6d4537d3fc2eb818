import type { LookupAddress } from 'node:dns'
import { describe, expect, test } from 'vitest'
import { type Resolve, Targets } from './targets.ts'

/** Creates a resolver that returns these lists of addresses in order. */
function resolving(...answers: readonly (readonly string[])[]): { resolve: Resolve; asked: string[] } {
  const asked: string[] = []
  const resolve: Resolve = (hostname, _, callback) => {
    const list = answers[Math.min(asked.length, answers.length - 1)] ?? []
    asked.push(hostname)
    callback(
      null,
      list.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
  return { resolve, asked }
}

/** Resolves to the addresses for a connection to `host`, or to the reason for the refusal. */
function connectTo(targets: Targets, host: string): Promise<string> {
  return new Promise(resolve =>
    targets.lookup(host, { all: true }, (error, addresses) => {
      const list = addresses as unknown as readonly LookupAddress[]
      resolve(error === null ? list.map(one => one.address).join(' ') : error.message)
    }),
  )
}

describe("a host name's address", () => {
  test('is checked, and the connection uses it', async () => {
    const { resolve, asked } = resolving(['127.0.0.1', '::1'])
    const targets = new Targets([], false, resolve)
    expect(await connectTo(targets, 'app.localhost')).toBe('127.0.0.1 ::1')
    expect(asked).toEqual(['app.localhost'])
  })

  test("is refused if it is another machine's, whatever the name", async () => {
    for (const address of [
      '10.0.0.1',
      '93.184.216.34',
      '2001:db8::1',
      '::ffff:10.0.0.1',
      '0.0.0.0',
      '169.254.169.254',
    ]) {
      const { resolve } = resolving([address])
      expect(await connectTo(new Targets([], false, resolve), 'localhost')).toMatch(
        /neither this machine nor/,
      )
    }
  })

  test("is refused if one of several is another machine's", async () => {
    const { resolve } = resolving(['127.0.0.1', '10.0.0.1'])
    expect(await connectTo(new Targets([], false, resolve), 'localhost')).toContain('10.0.0.1')
  })

  test('is checked for each connection, so that a changed name gains nothing', async () => {
    const { resolve } = resolving(['127.0.0.1'], ['10.0.0.1'])
    const targets = new Targets([], false, resolve)
    expect(await connectTo(targets, 'localhost')).toBe('127.0.0.1')
    expect(await connectTo(targets, 'localhost')).toMatch(/neither this machine nor/)
  })

  test('may be anywhere for an allowed host, except link-local and other special addresses', async () => {
    const { resolve } = resolving(['172.18.0.3'], ['169.254.169.254'], ['fe80::1'], ['224.0.0.1'])
    const targets = new Targets(['App'], false, resolve)
    expect(await connectTo(targets, 'app')).toBe('172.18.0.3')
    for (let i = 0; i < 3; i++) expect(await connectTo(targets, 'app')).toMatch(/neither this machine nor/)
    expect(await connectTo(new Targets(['other'], false, resolving(['172.18.0.3']).resolve), 'app')).toMatch(
      /neither/,
    )
  })
})

import { durableObjectStore, type EventIdsBinding } from '@ackhook/cloudflare'
import { storeSuite } from '@ackhook/conformance/store'
import type { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { itUnlessLong } from '../../../test/support/in-full.ts'
import { until } from '../../../test/support/until.ts'
import { bundleWorker, startCloudflare } from './worker-program.ts'

const SHARDS = 4
/** Cases with thousands of calls, or with an alarm to wait for. */
const LONG = ['store.claim.race', 'store.cleanup']
let cloudflare: Miniflare
let count = 0

beforeAll(async () => {
  cloudflare = startCloudflare(await bundleWorker('ids.mjs'), {
    durableObjects: { EVENT_IDS: { className: 'EventIds', useSQLite: true } },
  })
  await cloudflare.ready
})
afterAll(() => cloudflare.dispose())

/** Creates a binding whose objects belong to a single case. */
async function binding(): Promise<{ readonly prefix: string; readonly own: EventIdsBinding }> {
  const namespace = (await cloudflare.getDurableObjectNamespace('EVENT_IDS')) as unknown as EventIdsBinding
  const prefix = `case-${count++}-`
  const own = {
    idFromName: (name: string) => namespace.idFromName(prefix + name),
    get: (id: never) => namespace.get(id),
  }
  return { prefix, own: own as unknown as EventIdsBinding }
}

async function open() {
  const { own } = await binding()
  return {
    first: durableObjectStore(own, { shards: SHARDS }),
    second: durableObjectStore(own, { shards: SHARDS }),
  }
}

/** Opens stores on a network that can fail between the Worker and its objects. */
async function openFailing() {
  const { own } = await binding()
  let isDown = false
  const failing: EventIdsBinding = {
    idFromName: name => own.idFromName(name),
    get: id => ({
      fetch: (address, init) =>
        isDown ? Promise.reject(new Error('Network connection lost.')) : own.get(id).fetch(address, init),
    }),
  }
  return {
    first: durableObjectStore(failing, { shards: SHARDS }),
    second: durableObjectStore(failing, { shards: SHARDS }),
    fail(isFailing: boolean) {
      isDown = isFailing
    },
  }
}

async function openCounted() {
  const { own } = await binding()
  const store = durableObjectStore(own, { shards: SHARDS })
  const stubs = Array.from({ length: SHARDS }, (_, shard) => own.get(own.idFromName(`ids-${shard}`) as never))
  return {
    first: store,
    second: store,
    async count() {
      const counts = await Promise.all(
        stubs.map(async stub => (await stub.fetch('https://event-ids/', { method: 'GET' } as never)).json()),
      )
      return (counts as number[]).reduce((sum, one) => sum + one, 0)
    },
  }
}

describe('durableObjectStore', () => {
  const cases = storeSuite({ open, openFailing, openCounted })
  for (const { id, name, run } of cases) itUnlessLong(id, LONG)(`${name} (${id})`, run)

  test('refuses claims while its object has ids of an earlier version, and only then', async () => {
    const { own } = await binding()
    const store = durableObjectStore(own, { shards: 1 })
    const lease = { leaseMs: 60_000, fingerprint: 1 }
    const left = Date.now() + 10_000
    const stub = own.get(own.idFromName('ids-0') as never)
    const put = { method: 'PUT', body: JSON.stringify({ until: left }) }
    await Promise.resolve(stub.fetch('https://event-ids/', put as never)).catch(() => {})
    await expect(store.claim('new', 'a', lease)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(
        /ids in a Durable Object.*let Ackhook at commit 09643bf9 run until they/,
      ),
    })
    await until('they have expired', async () => Date.now() > left)
    expect(await store.claim('new', 'a', lease)).toEqual({ outcome: 'claimed' })
  })

  test('runs every case but those of a limited store', () => {
    expect(cases.notRun.map(({ missing }) => missing)).toEqual(['openSmall'])
  })
})

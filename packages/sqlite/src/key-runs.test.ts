import { expect, it } from 'vitest'
import { KeyRuns } from './key-runs.ts'
import type { RowsBehind } from './protocol/batch-result.ts'
import { monotonicMs } from './protocol/monotonic-ms.ts'

const READ_AHEAD_MS = 100
const ORDER_KEY = Buffer.from('cnv_1').toString('hex').toUpperCase()

function behind(orders: readonly number[], readMsAgo = 0): RowsBehind {
  const rows = orders.map((orderAt, index) => {
    const id = `evt_${orderAt}`
    const event = {
      key: id,
      namespace: '',
      id,
      type: 'a.b',
      fingerprint: 1,
      receivedAt: 0,
      body: Buffer.alloc(0),
    }
    return { seq: index, token: `token${index}`, attempt: 1, orderAt, event }
  })
  return { orderKey: ORDER_KEY, beginBefore: monotonicMs() + READ_AHEAD_MS - readMsAgo, rows }
}

function rest(runs: KeyRuns, run: ReturnType<KeyRuns['start']>): number[] {
  const orders: number[] = []
  for (let row = runs.next(run); row !== undefined; row = runs.next(run)) orders.push(row.orderAt)
  return orders
}

it('drops events younger than an arrival of their key, but of no other key', () => {
  const runs = new KeyRuns()
  const run = runs.start(behind([10, 20, 20, 30]), [])
  runs.giveWayTo({ order: { key: 'cnv_2', createdAt: 1 } })
  runs.giveWayTo({ order: { key: 'cnv_1', createdAt: 20 } })
  expect(rest(runs, run)).toEqual([10, 20, 20])
})

it('drops events younger than an arrival that is under way when the run starts', () => {
  const runs = new KeyRuns()
  const underWay = [{}, { order: { key: 'cnv_1', createdAt: 15 } }]
  expect(rest(runs, runs.start(behind([10, 20]), underWay))).toEqual([10])
})

it('drops everything while a dead letter is being redriven', async () => {
  const runs = new KeyRuns()
  const before = runs.start(behind([10]), [])
  const during: number[][] = []
  await runs.giveWayToRedrive(async () => {
    during.push(rest(runs, before), rest(runs, runs.start(behind([10]), [])))
  })
  expect(during).toEqual([[], []])
  expect(rest(runs, runs.start(behind([10]), []))).toEqual([10])
})

it('begins no row that was read too long ago', () => {
  const runs = new KeyRuns()
  expect(rest(runs, runs.start(behind([10], READ_AHEAD_MS), []))).toEqual([])
})

it('reads as far ahead as runs need, up to 32 rows', () => {
  const runs = new KeyRuns()
  for (let round = 0; round < 5; round++) {
    const orders = Array.from({ length: runs.readAhead }, (_, index) => index)
    rest(runs, runs.start(behind(orders), []))
  }
  expect(runs.readAhead).toBe(32)
  rest(runs, runs.start(behind([10, 20], READ_AHEAD_MS), []))
  expect(runs.readAhead).toBe(1)
})

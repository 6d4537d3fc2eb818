import { expect, it } from 'vitest'
import { handleEvent, keepLedger, readLedger } from '../../bench/lib/handler.mjs'
import { countedRun } from '../../bench/subjects/durable.mjs'

interface Settings {
  readonly handle: (event: { readonly id: string }) => Promise<void>
}

const noServer = { events: 20, cpuUs: async () => 0, deadlineMs: 200 }
const idOf = ({ body }: { readonly body: Buffer }): string => JSON.parse(body.toString()).id

it('a ledger counts the events that ran once, and those that ran again', async () => {
  keepLedger({ first: 100, count: 4, times: true })
  for (const number of [100, 101, 101, 103, 104]) await handleEvent({ id: `evt_${number}` })
  const { once, again, beganAt } = readLedger()
  expect({ once, again }).toEqual({ once: 2, again: 1 })
  expect(beganAt).toHaveLength(4)
})

it.each([
  ['runs twice', 2],
  ['is lost', 0],
] as const)('a durable run in which one event %s has no figures', async (_, runs) => {
  const open = async ({ handle }: Settings) => {
    let accepted = 0
    return {
      async accept(request: { readonly body: Buffer }) {
        const times = ++accepted === 7 ? runs : 1
        for (let run = 0; run < times; run++) await handle({ id: idOf(request) })
        return true
      },
      async close() {},
    }
  }
  await expect(countedRun(open, noServer)).rejects.toThrow('20 events were sent, 20 acknowledged')
})

it('a durable run in which each event runs once has figures, however often its sender must repeat it', async () => {
  const open = async ({ handle }: Settings) => {
    let refusals = 5
    return {
      async accept(request: { readonly body: Buffer }) {
        if (refusals-- > 0) return false
        await handle({ id: idOf(request) })
        return true
      },
      async close() {},
    }
  }
  await expect(countedRun(open, noServer)).resolves.toMatchObject({ perSecond: expect.any(Number) })
})

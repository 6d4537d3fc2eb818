import { setTimeout } from 'node:timers/promises'
import { eventBody } from './event-body.mjs'
import { Sender } from './sender.mjs'
import { startServer } from './server.mjs'

const CONNECTIONS = 64
const DEADLINE_MS = 120_000

/** Ours on `node:http` with an inbox, in a process of its own, and its load. */
export async function openLoaded(inbox, { places, retention }) {
  const env = { BENCH_PLACES: JSON.stringify(places), ...(retention && { BENCH_RETENTION: retention }) }
  const server = await startServer('node-http', `ackhook, ${inbox}`, { env })
  const sender = await Sender.open({ port: server.port, body: eventBody(2000), connections: CONNECTIONS })
  return {
    ...{ server, sender },
    async stop() {
      sender.close()
      await server.stop()
    },
  }
}

/**
 * Loads a server as fast as replies arrive, and waits until all events are handled. Returns what it accepts a second, and
 * what it accepts and handles a second.
 */
export async function rateOf({ server, sender }, seconds) {
  const { handled } = await server.ask('reset')
  const requests = sender.prepare(seconds)
  const beganAt = performance.now()
  const { answered, perSecond, latencies } = await sender.load(seconds, requests)
  const { loopP99Ms } = await server.ask('state')
  await untilHandled(server, handled + answered)
  const handledPerSecond = answered / ((performance.now() - beganAt) / 1000)
  return { acceptedPerSecond: perSecond, handledPerSecond, latencies, loopP99Ms }
}

/**
 * Offers `count` events at a fixed rate. Throws unless each was acknowledged, as `arrive` does, and then handled once.
 * Returns the first moment of arrival, and, if `times`, the moment at which the handler of each began.
 */
export async function offer({ server, sender }, { perSecond, count, times = false, answered, during }) {
  const { handled } = await server.ask({ keepLedger: { first: Sender.nextNumber(), count, times } })
  const arriving = sender.arrive(perSecond, count, answered)
  await Promise.all([arriving, during?.()])
  await untilHandled(server, handled + count)
  const { once, again, beganAt } = await server.ask('ledger')
  if (once !== count || again > 0)
    throw new Error(`${count} events were acknowledged, ${once} were handled once, ${again} more than once`)
  return { begin: await arriving, beganAt }
}

async function untilHandled(server, count) {
  const deadline = performance.now() + DEADLINE_MS
  while ((await server.ask('state')).handled < count) {
    if (performance.now() > deadline)
      throw new Error('acknowledged events were not handled within two minutes')
    await setTimeout(10)
  }
}

import { randomInt } from 'node:crypto'
import { ConfigurationError } from '@ackhook/core'
import { printable } from '@ackhook/core/spi'
import { BatchOperations } from './api/batch-operations.ts'
import { ControlOperations } from './api/control-operations.ts'
import { DeliveryOperations } from './api/delivery-operations.ts'
import { toDeliveryView } from './api/delivery-view.ts'
import type { EmulatorApi } from './api/emulator-api.ts'
import { EndpointOperations } from './api/endpoint-operations.ts'
import { EventsOperations } from './api/events-operations.ts'
import { MessageOperations } from './api/message-operations.ts'
import type { Parts } from './api/parts.ts'
import { Batches } from './batches/batches.ts'
import { EmulatorClock } from './clock/emulator-clock.ts'
import { DeliveryEngine, type EngineEvents } from './delivery/engine.ts'
import { FaultSource } from './delivery/fault-source.ts'
import { Housekeeping } from './delivery/housekeeping.ts'
import { Intake } from './delivery/intake.ts'
import { DeliveryCounts, LogRoom } from './delivery/log-room.ts'
import { DEFAULT_WORKSPACE, Endpoints } from './endpoints/endpoints.ts'
import { ChangeFeed } from './feed/change-feed.ts'
import { Waiters } from './feed/waiters.ts'
import type { ResolvedEmulator } from './options/emulator-options.ts'
import { Targets } from './security/targets.ts'
import type { Storage } from './storage/storage.ts'

/** Creates and connects all parts, and sets the endpoint given in the options. */
export function createParts(
  asked: ResolvedEmulator,
  storage: Storage,
  version: string,
): { readonly parts: Parts; readonly secret: string | undefined } {
  const clock = new EmulatorClock(asked.clock, Number(storage.meta('offset') ?? 0))
  const seed = seedOf(asked, storage)
  const targets = new Targets(asked.allowTargets, asked.httpsOnly)
  const { health, overlapMs, rules, concurrency, retention } = asked
  refuseTarget('to', asked.to, targets)
  refuseTarget('dashboard', asked.dashboard, targets)
  const endpoints = new Endpoints({ storage, clock, targets, health, overlapMs, secret: asked.secret })
  const secret = setEndpoint(asked, endpoints)
  // The secret may come from a data file. A reset must restore it.
  const kept = asked.to === undefined ? secret : endpoints.require(DEFAULT_WORKSPACE).secret
  const options = { ...asked, secret: kept }
  const counts = new DeliveryCounts(storage.deliveries.counts())
  const room = new LogRoom({ size: storage.size, counts, maxBytes: retention.bytes })
  const faults = new FaultSource(asked.faults, clock, set => feed.publish('faults', set))
  const feed = new ChangeFeed(seq => {
    const row = storage.deliveries.bySeq(seq)
    return row && toDeliveryView(row)
  })
  const waiters = new Waiters()
  const housekeeping = new Housekeeping({
    storage,
    clock,
    counts,
    limits: retention,
    room,
    failed: error => events.failed(error),
  })
  const changed = (seq: number) => {
    feed.deliveryChanged(seq)
    waiters.changed()
    housekeeping.run()
  }
  const seedNow = () => seed
  const maxOpen = retention.undelivered
  const intake = new Intake({ storage, endpoints, counts, faults, seed: seedNow, maxOpen, room })
  const events = engineEvents(changed, feed, endpoints, asked)
  const shared = { storage, clock, counts, faults, endpoints }
  const engine = new DeliveryEngine({ ...shared, targets, room, rules, concurrency, events, seed: seedNow })
  const batches = new Batches(
    () => clock.now(),
    batch => feed.publish('batch', batch),
  )
  const more = { feed, waiters, housekeeping, batches, targets, changed }
  const parts = { ...shared, options, version, seed, intake, engine, ...more }
  return { parts, secret }
}

function refuseTarget(option: string, url: string | undefined, targets: Targets): void {
  const refusal = url === undefined ? undefined : targets.refusal(url)
  if (refusal !== undefined) throw new ConfigurationError(option, refusal)
}

function engineEvents(
  changed: (seq: number) => void,
  feed: ChangeFeed,
  endpoints: Endpoints,
  { logger }: ResolvedEmulator,
): EngineEvents {
  return {
    changed,
    health(workspace) {
      const health = { workspace, ...endpoints.healthOf(workspace) }
      feed.publish('health', health)
      if (health.reason === null) {
        logger?.info(health, `the endpoint of ${workspace} is healthy again`)
        return
      }
      // The reason contains text from the receiver's reply.
      const reason = printable(health.reason)
      logger?.warn({ ...health, reason }, `the endpoint of ${workspace} is not healthy: ${reason}`)
    },
    failed(error) {
      try {
        logger?.error({ error }, 'the state cannot be read or written; retrying every second')
      } catch {}
    },
  }
}

/** Stores the seed in the data file, so that a restart changes no decision. */
function seedOf({ seed }: ResolvedEmulator, storage: Storage): number {
  const chosen = seed ?? Number(storage.meta('seed') ?? randomInt(2 ** 47))
  storage.setMeta('seed', String(chosen))
  return chosen
}

/** Returns the secret if it was given in the options or generated here. */
function setEndpoint({ to, secret }: ResolvedEmulator, endpoints: Endpoints): string | undefined {
  if (to === undefined) return secret
  return endpoints.put(DEFAULT_WORKSPACE, { url: to, ...(secret !== undefined && { secret }) }) ?? secret
}

/** Creates the emulator's API from its operations. */
export function createApi(parts: Parts): EmulatorApi {
  const events = new EventsOperations(parts)
  const control = new ControlOperations(parts)
  const { deliveries } = new DeliveryOperations(parts)
  const { workspaces, endpoints } = new EndpointOperations(parts)
  const { messages } = new MessageOperations(parts, events)
  const { batches } = new BatchOperations(parts, deliveries, events)
  return {
    ...{ deliveries, workspaces, endpoints, messages, batches },
    events: { list: options => events.list(options) },
    clock: control.clock,
    faults: control.faults,
    send: (type, overrides, options) => events.send(type, overrides, options),
    sendAll: (list, options) => events.sendAll(list, options),
    health: () => control.health(),
    settings: () => control.settings(),
    stats: options => control.stats(options),
    wait: (options, signal) => control.wait(options, signal),
    reset: options => control.reset(options),
  }
}

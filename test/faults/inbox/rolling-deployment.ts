import { expect, it } from 'vitest'
import { inFull } from '../../support/in-full.ts'
import { until } from '../../support/until.ts'
import { nothingIsLeft } from './nothing-is-left.ts'
import { createPlatform } from './platform.ts'
import { type ChildSettings, type ReceiverProcess, startReceiver } from './receiver-process.ts'
import { createWorkspace, scaled, type Workspace } from './workspace.ts'

const SENDERS = 8
const KNOWN = 'conversation.resolved'
const NEW = 'message.delivered'
/** The older version logs every event. */
const OLD_HANDLERS = [KNOWN, '*']
const NEW_HANDLERS = [KNOWN, NEW, '*']

/** Steps of a deployment, while both types are sent to all running processes. */
interface Deployment {
  start(patterns: readonly string[]): Promise<ReceiverProcess>
  stop(receiver: ReceiverProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Sends `events` events of the new type, and as many of the other one. */
  send(events: number): Promise<void>
}

/** Deployments by their order of steps. */
const DEPLOYMENTS: Readonly<Record<string, (deployment: Deployment, events: number) => Promise<void>>> = {
  async 'the new version comes first, then the old one goes'({ start, stop, send }, events) {
    const old = await start(OLD_HANDLERS)
    await start(NEW_HANDLERS)
    await send(events)
    await Promise.all([send(events), stop(old, 'SIGTERM')])
  },
  async 'the new version drains, and comes back while the old one receives'({ start, stop, send }, events) {
    const capable = await start(NEW_HANDLERS)
    await start(OLD_HANDLERS)
    await Promise.all([send(events), stop(capable, 'SIGTERM')])
    await send(events)
    await start(NEW_HANDLERS)
  },
  async 'the new version is killed, and comes back while the old one receives'(
    { start, stop, send },
    events,
  ) {
    await start(OLD_HANDLERS)
    const capable = await start(NEW_HANDLERS)
    const sent = send(events)
    await stop(capable, 'SIGKILL')
    await sent
    await send(events)
    await start(NEW_HANDLERS)
  },
}

/** Declares a test for each deployment. `settingsOf` returns the inbox that a test's processes share. */
export function testRollingDeployments(
  settingsOf: (space: Workspace) => Pick<ChildSettings, 'mode' | 'engine' | 'queue'>,
): void {
  // The default run has only the hardest case: a killed process.
  for (const [name, deploy] of Object.entries(DEPLOYMENTS).slice(inFull(0, -1))) {
    it(`loses no event of a type that only the new version handles: ${name}`, async () => {
      const space = createWorkspace()
      const platform = createPlatform()
      const up = new Set<ReceiverProcess>()
      let count = 0

      const deployment: Deployment = {
        async start(patterns) {
          const options = { concurrency: 8 }
          const receiver = await startReceiver({
            ...settingsOf(space),
            ...space,
            patterns,
            workMs: 2,
            options,
          })
          up.add(receiver)
          return receiver
        },
        async stop(receiver, signal) {
          up.delete(receiver)
          receiver.signal(signal)
          await receiver.exited
        },
        async send(events) {
          const last = count + events
          const sender = async (): Promise<void> => {
            while (count < last) {
              const index = count++
              const url = () => [...up][index % up.size]?.url
              await platform.deliver(url, `evt_new_${index}`, {}, NEW)
              await platform.deliver(url, `evt_known_${index}`, {}, KNOWN)
            }
          }
          await Promise.all(Array.from({ length: SENDERS }, sender))
        },
      }

      try {
        await deploy(deployment, scaled(3000, 30))
        const [last] = [...up].reverse()
        if (last === undefined) throw new Error('no process is up')
        await nothingIsLeft(last, 240_000)
        const areHandled = (ids: ReadonlySet<string>) => {
          // Reads once for all ids: the ledger of a full run is long.
          const { ranBy } = space.read()
          return [...ids].every(id => ranBy.get(id)?.has(id.startsWith('evt_new') ? NEW : KNOWN) === true)
        }
        await until('all are handled', () => areHandled(platform.acked))
        expect(platform.acked.size).toBe(2 * count)
        expect(space.read().dead.size).toBe(0)
      } finally {
        platform.stop()
        for (const receiver of up) await deployment.stop(receiver, 'SIGKILL')
        space.remove()
      }
    })
  }
}

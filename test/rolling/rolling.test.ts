import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { until } from '../support/until.ts'
import { INBOXES, type RollingInbox, stopAfterAll } from './places.ts'
import { type Feature, type Line, type Place, ROOT, RollingProcess } from './rolling-process.ts'
import { lastRaised, removeVersions, versionOf } from './versions.ts'

stopAfterAll()
afterAll(removeVersions)

let count = 0
const newIds = (many: number): readonly string[] => Array.from({ length: many }, () => `evt_${count++}`)

/** What all processes of one deployment saw, and the events that the platform need not send again. */
class Deployment {
  readonly acknowledged = new Set<string>()
  readonly #processes: RollingProcess[] = []
  readonly #place: Place

  constructor(place: Place) {
    this.#place = place
    onTestFinished(() => Promise.all(this.#processes.map(one => one.kill())).then(() => undefined))
  }

  async start(root: string, features: readonly Feature[] = []): Promise<RollingProcess> {
    const started = await RollingProcess.start(root, this.#place, { features })
    expect(started.refusal).toBeUndefined()
    this.#processes.push(started)
    return started
  }

  /** Delivers new events to each process, and then each to all: only one of them may take it. */
  async deliver(processes: readonly RollingProcess[], many = 6): Promise<void> {
    const all: string[] = []
    for (const one of processes) {
      const ids = newIds(many)
      all.push(...ids)
      for (const [id, status] of Object.entries(await one.deliver(ids)))
        if (status < 300) this.acknowledged.add(id)
    }
    expect(all.filter(id => !this.acknowledged.has(id))).toEqual([])
    for (const one of processes) {
      const statuses = Object.values(await one.deliver(all))
      // SQS takes a message again, and its event is recognized when it is handed out.
      if (this.#place.kind !== 'sqs') expect(statuses.filter(status => status === 202)).toEqual([])
    }
  }

  lines(kind: 'begins' | 'ends'): readonly Line[] {
    return this.#processes.flatMap(one => one.lines.filter(line => line.kind === kind))
  }

  ids(kind: 'begins' | 'ends'): readonly string[] {
    return this.#processes.flatMap(one => one.ids(kind))
  }

  async handled(): Promise<void> {
    await until('every acknowledged event is handled', () => {
      const ended = new Set(this.ids('ends'))
      return [...this.acknowledged].every(id => ended.has(id))
    })
    expect(this.lines('ends').filter(line => line['isIntact'] !== true)).toEqual([])
  }
}

const BY_FORM = await Promise.all(
  Object.entries(INBOXES).map(async ([name, inbox]) => ({
    name,
    inbox,
    commit: await lastRaised(inbox.form),
  })),
)
const missing = BY_FORM.filter(({ commit }) => commit === undefined).map(({ name }) => name)
if (missing.length > 0) console.warn(`Skips ${missing.join(', ')}: this clone is shallow.`)

describe.each(BY_FORM.filter(({ commit }) => commit !== undefined))(
  '$name, beside the version that raised its number',
  { timeout: 240_000 },
  ({ inbox, commit }: { inbox: RollingInbox; commit: string | undefined }) => {
    let earlier: string
    beforeAll(async () => {
      earlier = (await versionOf(commit!)).folder
    }, 600_000)

    test.each(inbox.features)(
      'each event is handled while %s is switched on in the middle',
      async feature => {
        const deployment = new Deployment(await inbox.place())
        const before = await deployment.start(earlier)
        await deployment.deliver([before])
        const now = await deployment.start(ROOT)
        await deployment.deliver([before, now])
        await deployment.handled()
        expect(deployment.ids('ends')).toHaveLength(deployment.acknowledged.size)

        // Both versions are configured anew, one process after the other, while events come. A process without `open`
        // fails the events that another one seals, so sealing begins once none of those is left.
        const isMixed = feature !== 'sealing'
        await before.close()
        if (!isMixed) await now.close()
        const beforeWith = await deployment.start(earlier, [feature])
        await deployment.deliver(isMixed ? [beforeWith, now] : [beforeWith])
        await deployment.handled()
        if (isMixed) await now.close()
        const nowWith = await deployment.start(ROOT, [feature])
        if (feature === 'pause') await pauseBoth(deployment, beforeWith, nowWith)
        const startedAt = Date.now()
        await deployment.deliver([beforeWith, nowWith])
        await deployment.handled()
        if (feature === 'order') expectTurns(deployment, startedAt)
        expect(deployment.ids('ends')).toHaveLength(deployment.acknowledged.size)

        // The deployment ends, is rolled back, and is made again, each time without a drain.
        for (const [dying, other, root] of [
          [beforeWith, nowWith, earlier],
          [nowWith, undefined, ROOT],
        ] as const) {
          await deployment.deliver(other === undefined ? [dying] : [dying, other])
          await dying.kill()
          const next = await deployment.start(root, [feature])
          await deployment.deliver(other === undefined ? [next] : [next, other])
          await deployment.handled()
        }
      },
    )
  },
)

/** No event of a key began while another one of it ran, in whichever process. */
function expectTurns(deployment: Deployment, since: number): void {
  const endOf = new Map(deployment.lines('ends').map(line => [line['id'], line.at]))
  const begun = deployment.lines('begins').filter(({ at }) => at >= since)
  for (const line of begun) {
    const isInside = (other: Line): boolean =>
      other['key'] === line['key'] && other.at < line.at && line.at < endOf.get(other['id'])!
    expect(begun.filter(isInside)).toEqual([])
  }
}

/** A pause made by either version holds in both, and either ends it. */
async function pauseBoth(deployment: Deployment, a: RollingProcess, b: RollingProcess): Promise<void> {
  for (const [pausing, resuming] of [
    [a, b],
    [b, a],
  ] as const) {
    expect(await pausing.ask('pause')).toMatchObject({ done: true })
    const begun = deployment.ids('begins').length
    await deployment.deliver([a, b])
    expect((await resuming.ask('stats'))['stats']).toMatchObject({ pending: 12, active: 0 })
    expect(deployment.ids('begins')).toHaveLength(begun)
    expect(await resuming.ask('resume')).toMatchObject({ done: true })
    await deployment.handled()
  }
}

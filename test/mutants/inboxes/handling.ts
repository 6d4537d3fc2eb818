import type { HandlingControl, Inbox } from '@ackhook/core'
import { createAttempt, type ProcessEvent, type ProcessingPolicy } from '@ackhook/core/spi'
import type { Mutants } from '../mutant.ts'
import { inboxMutant } from './inbox-mutant.ts'
import type { Table } from './table.ts'
import { TableInbox } from './table-inbox.ts'
import { tableMutant } from './table-mutant.ts'

const withHandling = (change: (handling: HandlingControl) => Partial<HandlingControl>) => (inbox: Inbox) => {
  const handling = inbox.handling as HandlingControl
  return { handling: { ...handling, ...change(handling) } }
}

const withStart =
  (change: (run: ProcessEvent, policy: ProcessingPolicy, inbox: Inbox) => Parameters<Inbox['start']>) =>
  (inbox: Inbox) => ({
    start: ((run, policy) => inbox.start(...change(run, policy, inbox))) as Inbox['start'],
  })

const pausing: Mutants = [
  inboxMutant('pause-refuses', 'refuses events while handling is paused', 'pause-all', inbox => ({
    async accept(delivery) {
      const isPaused = (await inbox.handling?.paused())?.length !== 0
      return isPaused ? { outcome: 'full' as const } : inbox.accept(delivery)
    },
  })),
  inboxMutant(
    'pause-one-for-all',
    'pauses one type where all were meant',
    'pause-all',
    withHandling(({ pause }) => ({ pause: (type = 'message.received') => pause(type) })),
  ),
  inboxMutant(
    'pause-all-for-one',
    'pauses all types where one was meant',
    'pause-type',
    withHandling(({ pause }) => ({ pause: async type => (type === undefined ? pause() : pause()) })),
  ),
  inboxMutant(
    'pause-untold',
    'does not observe a pause',
    'pause-all',
    withStart((run, policy) => [
      run,
      { ...policy, observe: one => (one.kind === 'notice' ? undefined : policy.observe(one)) },
    ]),
  ),
  inboxMutant('pause-uncounted', 'does not show a pause in its counts', 'pause-all', inbox => ({
    async stats() {
      const { paused: _, pausedTypes: __, ...rest } = await inbox.stats()
      return rest
    },
  })),
  inboxMutant(
    'pause-retries',
    'tries an event again while handling is paused',
    'pause-running',
    withStart((run, policy) => [
      async (delivery, attempt, limit) => {
        const result = await run(delivery, attempt, limit)
        if (result.outcome !== 'retry' || attempt.number > 1) return result
        await new Promise(resolve => setTimeout(resolve, result.delayMs))
        return run(delivery, createAttempt(attempt.number + 1), limit)
      },
      policy,
    ]),
  ),
  inboxMutant(
    'pause-any-text',
    'takes any text for a type',
    'pause-answers',
    withHandling(({ pause }) => ({
      pause: type => pause(type === undefined || /^[a-z]+\.[a-z]+$/.test(type) ? type : 'any.text'),
    })),
  ),
  inboxMutant(
    'pause-twice',
    'reports a pause that was in force already',
    'pause-answers',
    withHandling(({ pause }) => ({
      pause: async type => {
        await pause(type)
        return true
      },
    })),
  ),
  inboxMutant(
    'resume-all-but-types',
    'keeps the pauses of single types when all are resumed',
    'pause-answers',
    withHandling(({ pause, resume, paused }) => ({
      async resume(type) {
        const kept = (await paused()).flatMap(one => (type === undefined ? (one.type ?? []) : []))
        const hasEnded = await resume(type)
        for (const one of kept) await pause(one)
        return hasEnded
      },
    })),
  ),
  inboxMutant(
    'pause-without-order',
    'lets events overtake a paused one of their key',
    'pause-order',
    inbox => ({
      async accept({ order, ...delivery }) {
        const isPaused = (await inbox.handling?.paused())?.length !== 0
        return inbox.accept(isPaused || order === undefined ? delivery : { ...delivery, order })
      },
    }),
  ),
  tableMutant(
    'pause-forgotten',
    { wrong: 'forgets a pause with its process', caughtBy: 'pause-survives' },
    class extends TableInbox {
      override async close(timeoutMs: number) {
        this.pauses.clear()
        return super.close(timeoutMs)
      }
    },
  ),
  tableMutant(
    'pause-own',
    { wrong: 'pauses only its own process', caughtBy: 'pause-shared' },
    class extends TableInbox {
      #own: Map<string | undefined, number> | undefined

      protected override get pauses() {
        this.#own ??= new Map<string | undefined, number>()
        return this.#own
      }
    },
  ),
  tableMutant(
    'resume-own',
    { wrong: 'resumes only its own process', caughtBy: 'pause-shared' },
    class extends TableInbox {
      readonly #seen = new Map<string | undefined, number>()
      readonly #table: Table

      constructor(table: Table, aheadMs?: number) {
        super(table, aheadMs)
        this.#table = table
      }

      protected override get pauses() {
        for (const [type, since] of this.#table?.pauses ?? []) this.#seen.set(type, since)
        return this.#seen
      }

      protected override pause(type: string | undefined) {
        this.#table.pauses.set(type, this.#table.now())
        return super.pause(type)
      }

      protected override async resume(type: string | undefined) {
        const hasEnded = await super.resume(type)
        this.#table.pauses.clear()
        return hasEnded
      }
    },
  ),
]

const sharing: Mutants = [
  inboxMutant(
    'groups-ignored',
    'runs as many events of a group as it has slots',
    'fair-limit',
    withStart((run, policy) => [run, { ...policy, groups: undefined }]),
  ),
  inboxMutant(
    'groups-one-more',
    'runs one event more of a group than its limit',
    'fair-limit',
    withStart((run, policy) => [
      run,
      { ...policy, groups: policy.groups && { ...policy.groups, limit: policy.groups.limit + 1 } },
    ]),
  ),
  inboxMutant(
    'groups-without-turns',
    'runs events of all groups in the order in which they came',
    'fair-turns',
    inbox => ({ accept: delivery => inbox.accept({ ...delivery, group: '' }) }),
  ),
  inboxMutant(
    'retries-unbounded',
    'runs retries besides its slots, as many as are due',
    'fair-retries',
    withStart((run, policy) => [
      async (delivery, attempt, limit) => {
        const result = await run(delivery, attempt, limit)
        if (result.outcome !== 'retry') return result
        setTimeout(() => void run(delivery, createAttempt(attempt.number + 1), limit), result.delayMs)
        return { outcome: 'completed' }
      },
      policy,
    ]),
  ),
]

/** Faults of pauses and of shared slots. */
export const mutants: Mutants = [...pausing, ...sharing]

import type { Delivery, Inbox } from '@ackhook/core'
import {
  type ActivitySlot,
  type AttemptResult,
  createAttempt,
  type ProcessingPolicy,
} from '@ackhook/core/spi'
import type { Mutants } from '../mutant.ts'
import { inboxMutant } from './inbox-mutant.ts'

type Letters = Inbox['deadLetters']

const withPolicy = (change: (policy: ProcessingPolicy) => Partial<ProcessingPolicy>) => (inbox: Inbox) => ({
  start: ((run, policy) => inbox.start(run, { ...policy, ...change(policy) })) as Inbox['start'],
})

const withResult = (change: (result: AttemptResult) => AttemptResult) => (inbox: Inbox) => ({
  start: ((run, policy) =>
    inbox.start(async (...args) => change(await run(...args)), policy)) as Inbox['start'],
})

const withDelivery = (change: (delivery: Delivery) => Delivery) => (inbox: Inbox) => ({
  start: ((run, policy) =>
    inbox.start((delivery, ...rest) => run(change(delivery), ...rest), policy)) as Inbox['start'],
})

const withAccepted = (change: (delivery: Delivery) => Delivery) => (inbox: Inbox) => ({
  accept: ((delivery: Delivery) => inbox.accept(change(delivery))) as Inbox['accept'],
})

const withLetters = (change: (letters: Letters, inbox: Inbox) => Partial<Letters>) => (inbox: Inbox) => ({
  deadLetters: { ...inbox.deadLetters, ...change(inbox.deadLetters, inbox) },
})

/** Faults that show without the end of a process. */
export const mutants: Mutants = [
  inboxMutant(
    'delay-five-times',
    'waits five times the retry delay',
    'retry',
    withResult(result => (result.outcome === 'retry' ? { ...result, delayMs: result.delayMs * 5 } : result)),
  ),
  inboxMutant(
    'delay-none',
    'retries at once',
    'retry',
    withResult(result => (result.outcome === 'retry' ? { ...result, delayMs: 0 } : result)),
  ),
  inboxMutant(
    'retention-half',
    'remembers an id for half of its retention',
    'retention-lasts',
    withPolicy(({ retentionMs }) => ({ retentionMs: retentionMs / 2 })),
  ),
  inboxMutant(
    'retention-hour',
    'remembers an id for at least an hour',
    'retention',
    withPolicy(({ retentionMs }) => ({ retentionMs: Math.max(retentionMs, 3_600_000) })),
  ),
  inboxMutant(
    'concurrency-one-more',
    'exceeds the concurrency by one event',
    'concurrency',
    withPolicy(({ concurrency }) => ({ concurrency: concurrency + 1 })),
  ),
  inboxMutant(
    'concurrency-one',
    'runs one event at a time',
    'concurrency',
    withPolicy(() => ({ concurrency: 1 })),
  ),
  inboxMutant(
    'capacity-none',
    'has no capacity',
    'capacity',
    withPolicy(() => ({ capacity: 1_000_000 })),
  ),
  inboxMutant(
    'dead-letters-retried',
    'retries dead events',
    'dead',
    withResult(result =>
      result.outcome === 'dead' ? { outcome: 'retry', delayMs: 1, error: result.error } : result,
    ),
  ),
  inboxMutant(
    'retries-dead',
    'dead-letters events that must be retried',
    'retry',
    withResult(result =>
      result.outcome === 'retry' ? { outcome: 'dead', error: result.error, notified: false } : result,
    ),
  ),
  inboxMutant(
    'retries-complete',
    'completes events that must be retried',
    'retry',
    withResult(result => (result.outcome === 'retry' ? { outcome: 'completed' } : result)),
  ),
  inboxMutant(
    'order-dropped',
    'drops the key of an event',
    'order-one',
    withAccepted(({ order: _, ...rest }) => rest),
  ),
  inboxMutant(
    'order-by-arrival',
    "runs a key's events in order of arrival",
    'order-one',
    withAccepted(one => (one.order === undefined ? one : { ...one, order: { ...one.order, createdAt: 0 } })),
  ),
  inboxMutant(
    'order-for-all',
    'runs all events one at a time',
    'order-keys',
    withAccepted(one => ({ ...one, order: { key: '', createdAt: one.receivedAt } })),
  ),
  inboxMutant(
    'bytes-as-text',
    'keeps a body as text',
    'accept-bytes',
    withAccepted(one => ({ ...one, body: new TextEncoder().encode(new TextDecoder().decode(one.body)) })),
  ),
  inboxMutant(
    'bytes-reparsed',
    "keeps a body's whole underlying buffer",
    'accept-bytes',
    withAccepted(one => ({ ...one, body: new Uint8Array(one.body.buffer) })),
  ),
  inboxMutant(
    'type-lower-case',
    'returns another namespace',
    'accept-names',
    withDelivery(one => ({ ...one, namespace: one.namespace.trim().slice(0, 2) })),
  ),
  inboxMutant(
    'conflict-unnoticed',
    'does not compare fingerprints',
    'duplicate-conflict',
    withAccepted(one => ({ ...one, fingerprint: 1 })),
  ),
  inboxMutant(
    'key-in-part',
    'identifies an event by a part of its key',
    'many',
    withAccepted(one => ({ ...one, key: one.key.slice(0, 1) })),
  ),
  inboxMutant('number-always-one', 'gives every attempt the number 1', 'retry', inbox => ({
    start: (run, policy) => inbox.start(delivery => run(delivery, createAttempt(1)), policy),
  })),
  inboxMutant('duplicates-accepted', 'reports a duplicate as accepted', 'duplicate-running', inbox => ({
    accept: async delivery => {
      const result = await inbox.accept(delivery)
      return result.outcome === 'duplicate' ? { outcome: 'accepted' } : result
    },
  })),
  inboxMutant('full-rejects', 'rejects if it is full', 'capacity', inbox => ({
    accept: async delivery => {
      const result = await inbox.accept(delivery)
      if (result.outcome === 'full') throw new Error('full')
      return result
    },
  })),
  inboxMutant('closed-accepts', 'accepts after close', 'drain-accept', inbox => ({
    accept: async delivery => {
      const result = await inbox.accept(delivery)
      return result.outcome === 'unavailable' ? { outcome: 'accepted' } : result
    },
  })),
  inboxMutant('closed-rejects', 'rejects after close', 'drain-accept', inbox => ({
    accept: async delivery => {
      const result = await inbox.accept(delivery)
      if (result.outcome === 'unavailable') throw result.cause
      return result
    },
  })),
  inboxMutant('close-at-once', 'does not wait for running events', 'drain-waits', inbox => ({
    close: () => inbox.close(0),
  })),
  inboxMutant('close-never', 'leaves everything running when it closes', 'drain-ends', () => ({
    close: async () => ({ lost: 0 }),
  })),
  inboxMutant('forget-nothing', 'forgets no id', 'forget', () => ({ forget: () => false })),
  inboxMutant('forget-says-yes', 'claims that it forgot an unknown id', 'forget', inbox => ({
    forget: async key => (await inbox.forget(key)) || true,
  })),
  inboxMutant('stats-swapped', 'swaps waiting and running events', 'stats', inbox => ({
    stats: async () => {
      const stats = await inbox.stats()
      return { ...stats, pending: stats.active, active: stats.pending }
    },
  })),
  inboxMutant('stats-age-none', 'reports that nothing has waited', 'stats', inbox => ({
    stats: async () => ({ ...(await inbox.stats()), oldestPendingMs: 0 }),
  })),
  inboxMutant('counts-none', 'counts nothing by minute', 'counts', () => ({ throughput: () => [] })),
  inboxMutant(
    'list-oldest',
    'lists the oldest dead letter first',
    'dead-list',
    withLetters(letters => ({
      list: options => letters.list({ ...options, order: options?.order === 'oldest' ? 'newest' : 'oldest' }),
    })),
  ),
  inboxMutant('lookup-none', 'tells that every event is unknown', 'lookup', () => ({
    lookup: () => ({ state: 'unknown' }),
  })),
  inboxMutant(
    'lookup-late',
    'tells the time of the lookup as that of the handling, from an hour ago',
    'lookup',
    inbox => ({
      lookup: async key => {
        const found = await inbox.lookup!(key)
        return found.state === 'handled' ? { ...found, handledAt: Date.now() - 3_600_000 } : found
      },
    }),
  ),
  inboxMutant('lookup-gone', 'tells that whatever is not there was handled', 'lookup', inbox => ({
    lookup: async key => {
      const found = await inbox.lookup!(key)
      return found.state === 'unknown' ? { state: 'handled' } : found
    },
  })),
  inboxMutant('lookup-waiting', 'tells a running event as one that waits', 'lookup', inbox => ({
    lookup: async key => {
      const found = await inbox.lookup!(key)
      return found.state === 'active' ? { ...found, state: 'pending' as const } : found
    },
  })),
  inboxMutant('lookup-bodies', 'finds an event without its body', 'lookup', inbox => ({
    lookup: async key => {
      const found = await inbox.lookup!(key)
      if (!('event' in found) || found.event === undefined) return found
      const { body: _, ...event } = found.event
      return { ...found, event }
    },
  })),
  inboxMutant('lookup-without-trace', 'finds an event without its trace context', 'traces', inbox => ({
    lookup: async key => {
      const found = await inbox.lookup!(key)
      if (!('event' in found) || found.event === undefined) return found
      const { trace: _, ...event } = found.event
      return { ...found, event }
    },
  })),
  inboxMutant('browse-other-trace', "shows another event's trace context", 'traces', inbox => ({
    browse: async query => {
      const found = await inbox.browse!(query)
      return found.map(one => ({
        ...one,
        trace: { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` },
      }))
    },
  })),
  inboxMutant('lookup-forgets', 'forgets a handled id that it looks up', 'lookup', inbox => ({
    lookup: async key => {
      const found = await inbox.lookup!(key)
      if (found.state === 'handled') await inbox.forget(key)
      return found
    },
  })),
  inboxMutant(
    'groups-of-all',
    'counts all dead letters of a class as one group',
    'dead-groups',
    withLetters(letters => ({
      groups: async options => {
        const answer = await letters.groups!(options)
        const one = new Map(answer.groups.map(group => [group.sample.reason.split(':')[0], group]))
        return { ...answer, groups: [...one.values()] }
      },
    })),
  ),
  inboxMutant(
    'groups-without-type',
    'takes its own fingerprint for a group',
    'dead-groups',
    withLetters(letters => ({
      groups: async options => {
        const answer = await letters.groups!(options)
        return { ...answer, groups: answer.groups.map(group => ({ ...group, group: group.sample.reason })) }
      },
    })),
  ),
  inboxMutant(
    'groups-smallest',
    'returns the smallest groups',
    'dead-groups',
    withLetters(letters => ({
      groups: async ({ limit } = {}) => {
        const answer = await letters.groups!()
        return { ...answer, groups: answer.groups.toReversed().slice(0, limit) }
      },
    })),
  ),
  inboxMutant(
    'groups-once',
    'counts groups once, and never again',
    'dead-groups-list',
    withLetters(letters => {
      let first: ReturnType<NonNullable<typeof letters.groups>> | undefined
      return { groups: options => (first ??= letters.groups!(options)) }
    }),
  ),
  inboxMutant(
    'groups-list-all',
    'lists the letters of all groups',
    'dead-groups-list',
    withLetters(letters => ({ list: ({ group: _, ...options } = {}) => letters.list(options) })),
  ),
  inboxMutant(
    'groups-kept',
    'leaves an event in the group of its first failure',
    'dead-groups-again',
    withLetters(letters => {
      const groups = new Map<string, string>()
      return {
        groups: async options => {
          const answer = await letters.groups!(options)
          return {
            ...answer,
            groups: answer.groups.map(one => ({ ...one, group: groups.get(one.sample.key) ?? one.group })),
          }
        },
        redrive: async key => {
          const letter = await letters.get(key)
          if (letter?.group !== undefined) groups.set(key, letter.group)
          return letters.redrive(key)
        },
      }
    }),
  ),
  inboxMutant(
    'list-all',
    'ignores the limit of a page',
    'dead-list',
    withLetters(letters => ({ list: options => letters.list({ ...options, limit: 1000 }) })),
  ),
  inboxMutant(
    'cursor-ignored',
    'starts each page from the beginning',
    'dead-cursor',
    withLetters(letters => ({ list: options => letters.list({ ...options, after: undefined }) })),
  ),
  inboxMutant(
    'discard-nothing',
    'keeps a dead letter that was discarded',
    'dead-discard',
    withLetters(letters => ({ discard: async key => (await letters.get(key)) !== undefined })),
  ),
  inboxMutant(
    'discard-says-yes',
    'claims that it discarded an unknown letter',
    'dead-discard',
    withLetters(letters => ({ discard: async key => (await letters.discard(key)) || true })),
  ),
  inboxMutant(
    'redrive-nothing',
    'claims that it redrove, but does nothing',
    'dead-redrive',
    withLetters(letters => ({ redrive: async key => (await letters.get(key)) !== undefined })),
  ),
  inboxMutant(
    'redrive-all-true',
    'returns true for every racing redrive',
    'dead-redrive-race',
    withLetters(letters => ({
      redrive: async key => {
        const was = (await letters.get(key)) !== undefined
        return (await letters.redrive(key)) || was
      },
    })),
  ),
  inboxMutant(
    'letter-without-body',
    'drops the body of a dead letter',
    'dead',
    withLetters(letters => ({
      get: async key => {
        const letter = await letters.get(key)
        return letter && { ...letter, body: new Uint8Array(0) }
      },
    })),
  ),
  inboxMutant(
    'letter-without-trace',
    'drops the trace context of a dead letter',
    'traces',
    withLetters(letters => ({
      get: async key => {
        const letter = await letters.get(key)
        if (letter === undefined) return undefined
        const { trace: _, ...rest } = letter
        return rest
      },
    })),
  ),
  inboxMutant(
    'letter-without-reason',
    'drops the reason of a dead letter',
    'dead',
    withLetters(letters => ({
      get: async key => {
        const letter = await letters.get(key)
        return letter && { ...letter, reason: '' }
      },
    })),
  ),
  inboxMutant('activity-last', 'keeps only the counts added last', 'activity', inbox => {
    let last: readonly ActivitySlot[] = []
    return {
      activity: { read: ({ lengthMs }) => last.filter(slot => slot.lengthMs === lengthMs) },
      async start(run, policy) {
        await inbox.start(run, policy)
        policy.activity?.begin(slots => {
          last = slots
        })
      },
    }
  }),
  inboxMutant('activity-since', 'lists slots that began before', 'activity', inbox => ({
    activity: { read: query => inbox.activity!.read({ ...query, since: 0 }) },
  })),
  inboxMutant('activity-newest-first', 'lists the newest slot first', 'activity-kept', inbox => ({
    activity: { read: async query => [...(await inbox.activity!.read(query))].reverse() },
  })),
  inboxMutant(
    'activity-forever',
    'never deletes a slot',
    'activity-kept',
    withPolicy(({ activity }) => ({
      activity: activity && {
        begin: add => activity.begin(slots => add(slots.map(slot => ({ ...slot, keptSince: 0 })))),
        end: () => activity.end(),
      },
    })),
  ),
  inboxMutant(
    'redrive-not-queued',
    'does not tell since when a redriven event waits',
    'activity-redrive',
    withDelivery(one => ({ ...one, queuedAt: undefined })),
  ),
  inboxMutant('browse-nothing', 'finds no event', 'browse', () => ({ browse: () => [] })),
]

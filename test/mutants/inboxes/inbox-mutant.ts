import { inboxSuite, type SuiteCase } from '@ackhook/conformance/inbox'
import { type Inbox, memoryInbox } from '@ackhook/core'
import type { Mutant } from '../mutant.ts'

/** Makes an inbox faulty: the returned members replace those of the correct inbox. */
export type Fault = (inbox: Inbox) => Partial<Inbox>

/** Returns the suite's cases for a memory inbox with a fault. */
export function casesOn(fault: Fault): readonly SuiteCase[] {
  const createInbox = (bytes?: number): Inbox => {
    const inbox = memoryInbox()
    const start: Inbox['start'] = (run, policy) => inbox.start(run, { ...policy, capacityBytes: bytes })
    const small = { ...inbox, start }
    return { ...small, ...fault(small) }
  }
  return inboxSuite({
    open: () => ({ createInbox: () => createInbox() }),
    openSmall: bytes => ({ createInbox: () => createInbox(bytes) }),
    capabilities: {
      survives: false,
      shared: false,
      serialize: true,
      forgets: true,
      browse: true,
      counts: true,
      groups: true,
      lookup: true,
      traces: true,
      activity: true,
      pauses: true,
      pausesTypes: true,
      sharesSlots: true,
    },
  })
}

export function inboxMutant(name: string, wrong: string, caughtBy: string, fault: Fault): Mutant {
  return { name, wrong, caughtBy, cases: () => casesOn(fault) }
}

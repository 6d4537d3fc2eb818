import { inboxSuite, type SuiteCase } from '@ackhook/conformance/inbox'
import type { Mutant } from '../mutant.ts'
import { Table } from './table.ts'
import type { TableInbox } from './table-inbox.ts'

type TableInboxClass = typeof TableInbox

/** Returns the suite's cases for an inbox that processes share. */
export function casesOnTable(Inbox: TableInboxClass): readonly SuiteCase[] {
  const open = (bytes?: number) => {
    const table = new Table(bytes)
    return { table, createInbox: () => new Inbox(table), close: () => table.close() }
  }
  return inboxSuite<ReturnType<typeof open>>({
    open: () => open(),
    openSmall: open,
    crash: ({ table }) => {
      const inbox = new Inbox(table)
      return { inbox, kill: () => inbox.kill() }
    },
    failWrites: ({ table }, isFailing) => {
      table.isFailing = isFailing
    },
    distant: ({ table }) => {
      const inbox = new Inbox(table)
      return {
        inbox,
        path: state => inbox.setPath(state),
        stop: () => inbox.setStopped(true),
        resume: () => inbox.setStopped(false),
      }
    },
    skew: ({ table }, aheadMs) => new Inbox(table, aheadMs),
    capabilities: {
      survives: true,
      shared: true,
      serialize: true,
      forgets: true,
      counts: true,
      activity: true,
      many: true,
      drops: true,
      erases: true,
      pauses: true,
      pausesTypes: true,
    },
  })
}

export function tableMutant(
  name: string,
  { wrong, caughtBy }: Pick<Mutant, 'wrong' | 'caughtBy'>,
  Inbox: TableInboxClass,
): Mutant {
  return { name: `table-${name}`, wrong, caughtBy, cases: () => casesOnTable(Inbox) }
}

import { inboxSuite, type SuiteCase } from '@ackhook/conformance/inbox'
import type { Mutant } from '../mutant.ts'
import { Disk } from './disk.ts'
import type { FileInbox } from './file-inbox.ts'

type FileInboxClass = typeof FileInbox

/** Returns the suite's cases for a file inbox, with power cuts as crashes. */
export function casesOnFile(Inbox: FileInboxClass): readonly SuiteCase[] {
  const open = () => {
    const disk = new Disk()
    return { disk, createInbox: () => new Inbox(disk.open()) }
  }
  return inboxSuite<ReturnType<typeof open>>({
    open,
    crash: ({ disk }) => {
      const inbox = new Inbox(disk.open())
      return { inbox, kill: () => inbox.kill() }
    },
    failWrites: ({ disk }, isFailing) => {
      disk.isFailing = isFailing
    },
    capabilities: { survives: true, shared: false, serialize: true, forgets: true, many: true },
  })
}

export function fileMutant(
  name: string,
  { wrong, caughtBy }: Pick<Mutant, 'wrong' | 'caughtBy'>,
  Inbox: FileInboxClass,
): Mutant {
  return { name: `file-${name}`, wrong, caughtBy, cases: () => casesOnFile(Inbox) }
}

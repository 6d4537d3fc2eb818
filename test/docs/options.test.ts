import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ROOT } from '../support/workspace-packages.ts'

const page = readFileSync(`${ROOT}docs/reference/options.md`, 'utf8')

it.each([
  ['The receiver', 'core/src/receiver/options.ts', 'ReceiverOptions'],
  ['`retry`', 'core/src/inbox/retry.ts', 'RetryOptions'],
  ['`contract`', 'core/src/events/contract.ts', 'Contract'],
  ['`memoryInbox`', 'core/src/inbox/memory/memory-inbox.ts', 'MemoryInboxOptions'],
  ['`memoryStore`', 'core/src/inbox/memory/memory-store.ts', 'MemoryStoreOptions'],
  ['`redisStore`', 'redis/src/options.ts', 'RedisStoreOptions'],
  ['`sqlStore`', 'sql/src/store/options.ts', 'SqlStoreOptions'],
  ['`sqliteInbox`', 'sqlite/src/options.ts', 'SqliteInboxOptions'],
  ['`bullmqInbox`', 'bullmq/src/options.ts', 'BullmqInboxOptions'],
  ['`sqsInbox`', 'sqs/src/sqs-inbox.ts', 'SqsInboxOptions'],
  ['`gracefulShutdown`', 'core/src/node/graceful-shutdown.ts', 'GracefulShutdownOptions'],
])('lists every option of %s once', (heading, file, type) => {
  const source = readFileSync(`${ROOT}packages/${file}`, 'utf8')
  const [, body = ''] = new RegExp(`^export interface ${type}\\b.*?\\{\\n(.*?)^\\}`, 'ms').exec(source) ?? []
  const declared = [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(match => match[1])
  expect(declared.length).toBeGreaterThan(1)
  expect(rowsBelow(heading)).toEqual(expect.arrayContaining(declared))
  expect(rowsBelow(heading).length).toBe(declared.length)
})

/** Returns the names in the first column of the table below a heading. */
function rowsBelow(heading: string): readonly string[] {
  const section = page.split(/^#+ /m).find(text => text.startsWith(`${heading}\n`)) ?? ''
  return [...section.matchAll(/^\| `(\w+)` \|/gm)].map(match => match[1] ?? '')
}

import { acceptanceCases } from './cases/acceptance.ts'
import { deadLetterCases } from './cases/dead-letters.ts'
import { drainCases } from './cases/drain.ts'
import { durabilityCases } from './cases/durability.ts'
import { orderCases } from './cases/order.ts'
import { processingCases } from './cases/processing.ts'
import type { InboxCapabilities, InboxCase } from './target.ts'

const ALL: readonly InboxCase[] = [
  ...acceptanceCases,
  ...processingCases,
  ...deadLetterCases,
  ...drainCases,
  ...orderCases,
  ...durabilityCases,
]

/**
 * What every inbox with these capabilities promises. Needs no test runner: give each case a target with a
 * place of its own, and run them one after the other or side by side.
 *
 * @example
 * for (const { id, name, run } of inboxCases({ durable: false, serialize: true, forgets: true })) {
 *   test(`${id}: ${name}`, () => run({ open: () => memoryInbox(), reopen: () => memoryInbox() }))
 * }
 */
export function inboxCases(capabilities: InboxCapabilities): readonly InboxCase[] {
  return ALL.filter(({ needs }) => needs.every(capability => capabilities[capability]))
}

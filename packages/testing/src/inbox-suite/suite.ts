import type { MaybePromise } from '@ackhook/core'
import { bindCases, type SuiteCase } from '../lib/suite-case.ts'
import { acceptanceCases } from './cases/acceptance.ts'
import { browseCases } from './cases/browse.ts'
import { deadLetterCases } from './cases/dead-letters.ts'
import { drainCases } from './cases/drain.ts'
import { durabilityCases } from './cases/durability.ts'
import { forgetCases } from './cases/forget.ts'
import { orderCases } from './cases/order.ts'
import { pageCases } from './cases/pages.ts'
import { processingCases } from './cases/processing.ts'
import { sharingCases } from './cases/sharing.ts'
import type { InboxCapabilities, InboxTarget } from './target.ts'

const CASES = [
  ...acceptanceCases,
  ...processingCases,
  ...deadLetterCases,
  ...pageCases,
  ...forgetCases,
  ...browseCases,
  ...drainCases,
  ...orderCases,
  ...durabilityCases,
  ...sharingCases,
]

/**
 * What every inbox with these capabilities promises, for any test runner. Each case opens a target of its own. A case
 * takes up to half a minute, most of them milliseconds. Run them one after the other or concurrently.
 *
 * @example
 * const capabilities = { durable: false, serialize: true, forgets: true }
 * const open = () => ({ createInbox: () => memoryInbox() })
 * for (const { id, name, run } of inboxSuite({ open, capabilities })) test(`${id}: ${name}`, run)
 */
export function inboxSuite({ open, capabilities }: InboxSuiteOptions): readonly SuiteCase[] {
  const cases = CASES.filter(({ needs }) => needs.every(capability => capabilities[capability]))
  return bindCases(cases, open)
}

/** How {@link inboxSuite} finds what it tests. */
export interface InboxSuiteOptions {
  /** A target with nothing in it, for one case. */
  open(): MaybePromise<InboxTarget>
  readonly capabilities: InboxCapabilities
}

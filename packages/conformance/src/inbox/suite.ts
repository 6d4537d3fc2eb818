import type { MaybePromise } from '@ackhook/core'
import { bindCases, type SuiteCases, selectCases } from '../lib/suite-case.ts'
import { acceptanceCases } from './cases/acceptance.ts'
import { activityCases } from './cases/activity.ts'
import { browseCases } from './cases/browse.ts'
import { clockCases } from './cases/clocks.ts'
import { crashCases } from './cases/crashes.ts'
import { retentionCases } from './cases/dead-letter-retention.ts'
import { deadLetterCases } from './cases/dead-letters.ts'
import { drainCases } from './cases/drain.ts'
import { durabilityCases } from './cases/durability.ts'
import { erasureCases } from './cases/erasure.ts'
import { failureCases } from './cases/failures.ts'
import { fairnessCases } from './cases/fairness.ts'
import { forgetCases } from './cases/forget.ts'
import { groupCases } from './cases/groups.ts'
import { lookupCases } from './cases/lookup.ts'
import { manyCases } from './cases/many.ts'
import { orderCases } from './cases/order.ts'
import { pageCases } from './cases/pages.ts'
import { pausingCases } from './cases/pausing.ts'
import { processingCases } from './cases/processing.ts'
import { reopenCases } from './cases/reopening.ts'
import { roomCases } from './cases/room.ts'
import { sharingCases } from './cases/sharing.ts'
import { takingCases } from './cases/taking.ts'
import type { InboxCapabilities, InboxCase, InboxHooks, InboxTarget, Stage } from './target.ts'

const CASES = [
  ...acceptanceCases,
  ...processingCases,
  ...deadLetterCases,
  ...retentionCases,
  ...pageCases,
  ...groupCases,
  ...lookupCases,
  ...manyCases,
  ...forgetCases,
  ...erasureCases,
  ...browseCases,
  ...drainCases,
  ...orderCases,
  ...durabilityCases,
  ...reopenCases,
  ...sharingCases,
  ...crashCases,
  ...failureCases,
  ...clockCases,
  ...takingCases,
  ...pausingCases,
  ...fairnessCases,
  ...activityCases,
]
const SMALL_BYTES = 1_048_576

/**
 * Cases that every inbox with these capabilities must pass, for any test runner. Each case opens its own target, and
 * needs a time limit of `timeLimitMs`; most take milliseconds. Run them one after another or concurrently. `notRun`
 * lists the cases whose capability or hook is missing.
 *
 * @example
 * const capabilities = { survives: false, shared: false, serialize: true, forgets: true }
 * const open = () => ({ createInbox: () => memoryInbox() })
 * for (const { id, name, timeLimitMs, run } of inboxSuite({ open, capabilities }))
 *   test(`${id}: ${name}`, { timeout: timeLimitMs }, run)
 */
export function inboxSuite<Target extends InboxTarget>(options: InboxSuiteOptions<Target>): SuiteCases {
  const { open, capabilities, ...hooks } = options
  const there: Readonly<Record<string, unknown>> = { ...hooks, ...capabilities }
  const onStage = (cases: readonly InboxCase[]) =>
    cases.map(one => ({ ...one, run: (target: Target) => one.run(stageOf(target, hooks)) }))
  const all = [
    ...bindCases(onStage(CASES), open),
    ...bindCases(onStage(roomCases), () => hooks.openSmall!(SMALL_BYTES)),
  ]
  return selectCases(all, need => Boolean(there[need]))
}

/** Functions by which {@link inboxSuite} reaches the inbox under test, and its capabilities. */
export interface InboxSuiteOptions<Target extends InboxTarget = InboxTarget> extends InboxHooks<Target> {
  /** Returns an empty target for one case. */
  open(): MaybePromise<Target>
  readonly capabilities: InboxCapabilities
}

/** No case calls a missing hook, because the hook is among its needs. */
function stageOf<Target extends InboxTarget>(target: Target, hooks: InboxHooks<Target>): Stage {
  return {
    createInbox: () => target.createInbox(),
    crash: () => hooks.crash!(target),
    failWrites: isFailing => hooks.failWrites!(target, isFailing),
    skew: aheadMs => hooks.skew!(target, aheadMs),
    distant: () => hooks.distant!(target),
  }
}

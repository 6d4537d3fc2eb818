import type { MaybePromise, Receiver } from '@ackhook/core'
import { bindCases, type SuiteCases, selectCases } from '../lib/suite-case.ts'
import { acceptanceCases } from './cases/acceptance.ts'
import { byteCases } from './cases/bytes.ts'
import { connectionCases } from './cases/connections.ts'
import { contentTypeCases } from './cases/content-types.ts'
import { limitCases } from './cases/limits.ts'
import { mountedCases } from './cases/mounted.ts'
import { refusalCases } from './cases/refusals.ts'
import { headerCases, promiseCases, SUITE_HEADERS } from './cases/replies.ts'
import type { AdapterTarget, AwaitedResponse, MountedTarget } from './target.ts'

const CASES = [
  ...acceptanceCases,
  ...byteCases,
  ...contentTypeCases,
  ...refusalCases,
  ...limitCases,
  ...connectionCases,
]

/**
 * What every adapter promises, whatever the framework, for any test runner. Mount a receiver made with
 * `adapterSuiteOptions` on a server that listens, and run each case. Most cases take
 * milliseconds, those about time a few seconds. The cases may share one server and must run one after the other. Cases
 * of a hook that is missing are in `notRun`.
 *
 * @example
 * const events: WebhookEvent[] = []
 * const hooks = webhooks(adapterSuiteOptions).on('*', event => events.push(event))
 * const app = express().use('/plain', hooks).use('/parsed', express.json(), hooks)
 * const { port } = app.listen(0).address() as AddressInfo
 * const base = `http://127.0.0.1:${port}`
 * const open = () => ({ url: `${base}/plain`, parsedUrl: `${base}/parsed`, handled: () => events })
 *
 * for (const { id, name, run } of adapterSuite({ open })) test(`${id}: ${name}`, run)
 */
export function adapterSuite(options: AdapterSuiteOptions): SuiteCases {
  const { open, openWithHeaders, openAwaited, mount } = options
  const settled: AwaitedResponse[] = []
  // Read when it settles, not later.
  const onSettled = ({ writableFinished }: AwaitedResponse) => void settled.push({ writableFinished })
  const needing = <Case extends object>(cases: readonly Case[], need: string) =>
    cases.map(one => ({ ...one, needs: [need] }))
  const all = [
    ...bindCases(CASES, open),
    ...bindCases(needing(headerCases, 'openWithHeaders'), () => openWithHeaders!(SUITE_HEADERS)),
    ...bindCases(needing(promiseCases(settled), 'openAwaited'), () => openAwaited!(onSettled)),
    ...bindCases(
      needing(
        mountedCases(receiver => mount!(receiver)),
        'mount',
      ),
      () => ({}),
    ),
  ]
  return selectCases(all, need => options[need as keyof AdapterSuiteOptions] !== undefined)
}

/** How {@link adapterSuite} finds what it tests. */
export interface AdapterSuiteOptions {
  /** The server for one case, or the same one for all of them. */
  open(): MaybePromise<AdapterTarget>
  /** The same, where a middleware or hook of the app sets these headers on each reply before the handler is called. */
  openWithHeaders?(headers: Readonly<Record<string, string>>): MaybePromise<AdapterTarget>
  /**
   * The same for a handler of Node's request and response: what calls it calls `onSettled` with the response as soon as
   * the promise of the handler has settled.
   */
  openAwaited?(onSettled: (response: AwaitedResponse) => void): MaybePromise<AdapterTarget>
  /**
   * A server with this receiver at `url`: it shows what the adapter hands to a receiver, and what becomes of its reply.
   */
  mount?(receiver: Receiver<never, never>): MaybePromise<MountedTarget>
}

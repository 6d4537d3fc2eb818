import { acceptanceCases } from './cases/acceptance.ts'
import { byteCases } from './cases/bytes.ts'
import { connectionCases } from './cases/connections.ts'
import { contentTypeCases } from './cases/content-types.ts'
import { limitCases } from './cases/limits.ts'
import { refusalCases } from './cases/refusals.ts'
import type { AdapterCase } from './target.ts'

/**
 * What every adapter promises, whatever the framework. Needs no test runner: mount a receiver made with
 * `adapterSuiteOptions` on a server that listens, and run each case. A case takes milliseconds, those about
 * time a few seconds; they may share one server and must run one after the other.
 *
 * @example
 * const events: WebhookEvent[] = []
 * const hooks = webhooks(adapterSuiteOptions).on('*', event => events.push(event))
 * const app = express().use('/plain', hooks).use('/parsed', express.json(), hooks)
 * const { port } = app.listen(0).address() as AddressInfo
 * const base = `http://127.0.0.1:${port}`
 * const target = { url: `${base}/plain`, parsedUrl: `${base}/parsed`, handled: () => events }
 *
 * for (const { id, name, run } of adapterCases) test(`${id}: ${name}`, () => run(target))
 */
export const adapterCases: readonly AdapterCase[] = [
  ...acceptanceCases,
  ...byteCases,
  ...contentTypeCases,
  ...refusalCases,
  ...limitCases,
  ...connectionCases,
]

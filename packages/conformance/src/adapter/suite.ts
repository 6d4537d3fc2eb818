import type { MaybePromise, Receiver } from '@ackhook/core'
import {
  bindCases,
  type SuiteCase,
  type SuiteCases,
  selectCases,
  type TargetCase,
} from '../lib/suite-case.ts'
import { acceptanceCases } from './cases/acceptance.ts'
import { byteCases } from './cases/bytes.ts'
import { connectionCases } from './cases/connections.ts'
import { contentTypeCases } from './cases/content-types.ts'
import { http2Cases } from './cases/http2.ts'
import { limitCases } from './cases/limits.ts'
import { mountedCases } from './cases/mounted.ts'
import { optionCases, waitUntilCases } from './cases/options.ts'
import { refusalCases } from './cases/refusals.ts'
import { headerCases, promiseCases, SUITE_HEADERS } from './cases/replies.ts'
import {
  type AdapterTarget,
  type AwaitedResponse,
  adapterSuiteOptions,
  type MountedTarget,
  type OwnCase,
  type ServerTarget,
  type SuiteReceiverOptions,
} from './target.ts'
import { acceptAnyCertificate } from './wire/connection.ts'

/** Longer than any case waits for one reply and one handler. */
const TIME_LIMIT_MS = 60_000

const CASES = [
  ...acceptanceCases,
  ...byteCases,
  ...contentTypeCases,
  ...refusalCases,
  ...limitCases,
  ...connectionCases,
]

/**
 * Cases that every adapter must pass, for any framework and test runner. Mount a receiver made with
 * `adapterSuiteOptions` on a server that listens, and run each case. Most cases take milliseconds, those about time a
 * few seconds. The cases may share one server and must run one after the other. `notRun` lists the cases whose hook is
 * missing.
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
  const all = allCases(options, () => opened(options.open()))
  return selectCases(all, need => options[need as keyof AdapterSuiteOptions] !== undefined)
}

/**
 * The cases of {@link adapterSuite} that test a running server from outside, whatever language it is written in. It must
 * acknowledge events at once: a repeated delivery shows whether it accepted an event. Its handlers get the suite's
 * events.
 *
 * @example
 * const cases = serverSuite({ url: 'http://localhost:3000/webhooks', secret: process.env.SIGNING_SECRET ?? '' })
 */
export function serverSuite({
  url,
  secret,
  bodyLimit = 1_048_576,
  insecure = false,
}: ServerSuiteOptions): SuiteCases {
  if (insecure) acceptAnyCertificate(url)
  return selectCases(
    allCases({}, () => ({ url, secret, bodyLimit })),
    () => false,
  )
}

type Hooks = Omit<AdapterSuiteOptions, 'open'>

/** A case whose hook is missing never runs, so cases may call their hooks. */
function allCases(hooks: Hooks, open: () => MaybePromise<ServerTarget>): readonly SuiteCase[] {
  const settled: AwaitedResponse[] = []
  // Read when the promise settles, not earlier.
  const onSettled = ({ writableFinished }: AwaitedResponse) => void settled.push({ writableFinished })
  return [
    ...bind(CASES, open),
    ...bind(needing(headerCases, 'openWithHeaders'), () => opened(hooks.openWithHeaders!(SUITE_HEADERS))),
    ...bind(needing(promiseCases(settled), 'openAwaited'), () => opened(hooks.openAwaited!(onSettled))),
    ...bind(needing(http2Cases, 'openHttp2'), () => opened(hooks.openHttp2!())),
    ...bindOwn(
      mountedCases(receiver => hooks.mount!(receiver)),
      'mount',
    ),
    ...bindOwn(
      optionCases(options => hooks.openWithOptions!(options)),
      'openWithOptions',
    ),
    ...bindOwn(
      waitUntilCases((receiver, waitUntil) => hooks.mountWithWaitUntil!(receiver, waitUntil)),
      'mountWithWaitUntil',
    ),
  ]
}

function bindOwn(cases: readonly OwnCase[], need: keyof Hooks): readonly SuiteCase[] {
  return bind(needing(cases, need), () => ({}))
}

function bind<Target extends object>(
  cases: readonly TargetCase<Target>[],
  open: () => MaybePromise<Target>,
): readonly SuiteCase[] {
  return bindCases(
    cases.map(one => ({ timeLimitMs: TIME_LIMIT_MS, ...one })),
    open,
  )
}

function needing<Case extends object>(cases: readonly Case[], need: keyof Hooks) {
  return cases.map(one => ({ ...one, needs: [need] }))
}

/** The target as seen by the cases. */
async function opened(opening: MaybePromise<AdapterTarget>): Promise<ServerTarget> {
  const target = await opening
  const { url, parsedUrl } = target
  return {
    secret: adapterSuiteOptions.secret,
    bodyLimit: adapterSuiteOptions.body.limit,
    url,
    parsedUrl,
    handled: () => target.handled(),
    close: () => target.close?.(),
  }
}

/** Functions by which {@link adapterSuite} reaches the adapter under test. */
export interface AdapterSuiteOptions {
  /** Returns the server for one case, or the same one for all of them. */
  open(): MaybePromise<AdapterTarget>
  /** Same as `open`, with app middleware or a hook that sets these headers on each reply before the handler is called. */
  openWithHeaders?(headers: Readonly<Record<string, string>>): MaybePromise<AdapterTarget>
  /**
   * Same as `open`, for a handler of Node's request and response. Its caller calls `onSettled` with the response as soon
   * as the handler's promise has settled.
   */
  openAwaited?(onSettled: (response: AwaitedResponse) => void): MaybePromise<AdapterTarget>
  /**
   * Returns a server with this receiver at `url`. The cases check the request that the adapter passes to the receiver,
   * and the reply that it sends.
   */
  mount?(receiver: Receiver<never, never>): MaybePromise<MountedTarget>
  /** Same as `open`, with an adapter created with these options, which include functions of the request's context. */
  openWithOptions?(options: SuiteReceiverOptions): MaybePromise<AdapterTarget>
  /** Same as `open`, over HTTP/2 without TLS and without an upgrade, if the framework supports it. */
  openHttp2?(): MaybePromise<AdapterTarget>
  /** Same as `mount`, on a platform that calls `waitUntil` for work after the reply. */
  mountWithWaitUntil?(
    receiver: Receiver<never, never>,
    waitUntil: (work: Promise<unknown>) => void,
  ): MaybePromise<MountedTarget>
}

/** A running server to be tested by {@link serverSuite}. */
export interface ServerSuiteOptions {
  /** Address of the webhook route, mounted for every method. */
  readonly url: string
  /** The server's signing secret. */
  readonly secret: string
  /** The largest body that the server accepts, in bytes. Default: 1 MiB, as in `createReceiver`. */
  readonly bodyLimit?: number | undefined
  /** Accepts any certificate of the server. Default: `false`. */
  readonly insecure?: boolean | undefined
}

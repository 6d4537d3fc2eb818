import { ConfigurationError, type Inbox, type Logger, type Observation, type Receiver } from '@ackhook/core'
import {
  consoleLogger,
  type InspectedReceiver,
  inspectReceiver,
  refuseGenerator,
  refuseUnknownNames,
  show,
} from '@ackhook/core/spi'
import type { Role } from '../protocol/protocol.ts'
import { hostName } from '../security/allowed-host.ts'
import { Activity, type RedactedEvent } from './activity.ts'

/** The caller and their role. `name` appears in the observation of each redrive and discard. */
export type Authorization = Role | false | { readonly role: Role; readonly name: string }

/** Options of `dashboard`. `Native` is the framework's own request. */
export interface DashboardOptions<Native = unknown> {
  /** A receiver from `createReceiver` or an adapter. Provides the inbox and this process's observations. */
  readonly receiver?: Pick<Receiver, 'subscribe' | 'deadLetters'> | undefined
  /** An inbox instead of a receiver, for a page in its own process. */
  readonly inbox?: Inbox | undefined
  /**
   * Required. Decides for every request, including those for the page's files: `'admin'` may redrive, discard, pause and resume,
   * `'read'` may look, and `false` gets 403. Any other result or an error counts as `false`; without a result within five
   * seconds the reply is 503. Both are logged once a minute: by the receiver's logger, or on the console if there is only
   * an inbox.
   */
  readonly authorize: (request: Request, native: Native) => Authorization | Promise<Authorization>
  /**
   * Host names that the dashboard accepts, besides loopback names. Set it if `authorize` checks only the network:
   * otherwise a page on another site whose name resolves to this machine gets in too. Default: any.
   */
  readonly allowedHosts?: readonly string[] | undefined
  /** Shows the bodies of dead letters. Default `false`: they hold your customers' data. */
  readonly bodies?: boolean | undefined
  /**
   * True if the app is behind a proxy that sets `X-Forwarded-Host` and that nobody can bypass. The pages' calls must then
   * come from that host. Default: Express's `trust proxy` or Fastify's `trustProxy`, otherwise `false`.
   */
  readonly trustProxy?: boolean | undefined
  /**
   * Address of the emulator, such as `'http://localhost:4400/'`, where the visitor's browser reaches its page. Events then
   * link to their deliveries there. Default: no links.
   */
  readonly emulatorUrl?: string | undefined
  /** Returns the text to show instead of a body or an error text. It receives the text and its event. */
  readonly redact?: ((text: string, event: RedactedEvent) => string) | undefined
  /**
   * Address of a trace in your tracing tool, with `{traceId}`: `'https://traces.example.com/trace/{traceId}'`. Events whose
   * request had a trace then link to it. Default: only their trace id is shown.
   */
  readonly traceUrl?: string | undefined
}

export interface ResolvedDashboard {
  readonly inbox: Inbox
  readonly observe: (observation: Observation) => void
  readonly logger: Logger
  /** Absent without a receiver. */
  readonly activity: Activity | undefined
  readonly receiver: Pick<InspectedReceiver, 'outage' | 'silence' | 'isNeverStarted'> | undefined
  readonly authorize: (request: Request, native: unknown) => Authorization | Promise<Authorization>
  /** Absent: accepts any host. */
  readonly allowedHosts: readonly string[] | undefined
  readonly bodies: boolean
  /** Absent: follows the framework's setting. */
  readonly trustProxy: boolean | undefined
  /** Without a fragment. */
  readonly emulatorUrl: string | undefined
  readonly redact: (text: string, event: RedactedEvent) => string
  readonly traceUrl: string | undefined
}

const NAMES = [
  ...['receiver', 'inbox', 'authorize', 'allowedHosts', 'bodies', 'redact', 'trustProxy'],
  ...['traceUrl', 'emulatorUrl'],
]

/** Throws `ConfigurationError` for a wrong option. */
export function resolveOptions<Native>(options: DashboardOptions<Native>): ResolvedDashboard {
  refuseUnknownNames(options, NAMES)
  const { authorize, allowedHosts, bodies = false, redact = text => text, traceUrl, trustProxy } = options
  if (typeof authorize !== 'function') {
    throw new ConfigurationError(
      'authorize',
      "is required: (request, native) => 'admin', 'read' or false. Everyone it lets in sees your customers' events",
    )
  }
  refuseGenerator('authorize', authorize)
  if (allowedHosts !== undefined && !isHostList(allowedHosts))
    throw new ConfigurationError('allowedHosts', "must be a list of host names, such as ['ops.example.com']")
  if (typeof bodies !== 'boolean') throw new ConfigurationError('bodies', 'must be true or false')
  if (trustProxy !== undefined && typeof trustProxy !== 'boolean')
    throw new ConfigurationError('trustProxy', 'must be true or false')
  if (typeof redact !== 'function') throw new ConfigurationError('redact', 'must be a function')
  if (traceUrl !== undefined && !isTraceUrl(traceUrl))
    throw new ConfigurationError(
      'traceUrl',
      "must be an http or https address that contains {traceId}, such as 'https://traces.example.com/trace/{traceId}'",
    )
  const source = sourceOf(options)
  return {
    ...source,
    authorize: authorize as ResolvedDashboard['authorize'],
    allowedHosts,
    bodies,
    trustProxy,
    emulatorUrl: emulatorUrlOption(options.emulatorUrl),
    redact: (text, event) => shownText(redact(text, event)),
    traceUrl,
  }
}

/** A promise or `undefined` would show as a body that is empty, or as none. */
function shownText(text: unknown): string {
  if (typeof text === 'string') return text
  throw new ConfigurationError('redact', `must return the text to show; returned ${show(text)}`)
}

function emulatorUrlOption(value: unknown): string | undefined {
  if (value === undefined) return undefined
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new ConfigurationError('emulatorUrl', "must be an http address, such as 'http://localhost:4400/'")
  // Every visitor sees it.
  if (url.username !== '' || url.password !== '')
    throw new ConfigurationError(
      'emulatorUrl',
      'must have no user name or password: remove the part before the @',
    )
  url.hash = ''
  return url.href
}

function sourceOf({
  receiver,
  inbox,
}: DashboardOptions<never>): Pick<
  ResolvedDashboard,
  'inbox' | 'observe' | 'logger' | 'activity' | 'receiver'
> {
  if (receiver !== undefined && !isObject(receiver))
    throw new ConfigurationError(
      'receiver',
      "must be made by createReceiver(), or by an adapter's webhooks()",
    )
  if (inbox !== undefined && !isInbox(inbox))
    throw new ConfigurationError('inbox', "must be an inbox, such as sqliteInbox('webhooks.db')")
  if (receiver !== undefined && inbox !== undefined)
    throw new ConfigurationError('receiver', 'give either a receiver, or an inbox without one')
  if (receiver === undefined) {
    if (inbox === undefined)
      throw new ConfigurationError('receiver', 'give either a receiver, or an inbox without one')
    return { inbox, observe: () => {}, logger: consoleLogger, activity: undefined, receiver: undefined }
  }
  const inspected: InspectedReceiver = inspectReceiver(receiver)
  const activity = new Activity(Date.now)
  receiver.subscribe(observation => activity.observe(observation))
  const { observe, logger, outage, silence, isNeverStarted } = inspected
  return { inbox: inspected.inbox, observe, logger, activity, receiver: { outage, silence, isNeverStarted } }
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

function isHostList(value: unknown): boolean {
  return Array.isArray(value) && value.every(one => typeof one === 'string' && hostName(one) !== undefined)
}

function isTraceUrl(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    value.includes('{traceId}') &&
    /^https?:\/\/[^/]/i.test(value) &&
    URL.canParse(value)
  )
}

function isInbox(inbox: unknown): boolean {
  return isObject(inbox) && 'deadLetters' in inbox && typeof (inbox as Partial<Inbox>).stats === 'function'
}

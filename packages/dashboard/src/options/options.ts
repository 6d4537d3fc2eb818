import { ConfigurationError, type Inbox, type Logger, type Observation, type Receiver } from '@ackhook/core'
import { consoleLogger, type InspectedReceiver, inspectReceiver, refuseUnknownNames } from '@ackhook/core/spi'
import type { Role } from '../protocol/protocol.ts'
import { hostName } from '../security/allowed-host.ts'
import { Activity, type RedactedEvent } from './activity.ts'

/** The caller and their role. `name` appears in the observation of each redrive and discard. */
export type Authorization = Role | false | { readonly role: Role; readonly name: string }

/** Options of `dashboard`. `Native` is the framework's own request. */
export interface DashboardOptions<Native = unknown> {
  /** A receiver of `createReceiver` or of an adapter: for its inbox, and for what this process observes. */
  readonly receiver?: Pick<Receiver, 'subscribe' | 'deadLetters'> | undefined
  /** Instead of a receiver: the inbox alone, for a page in a process of its own. */
  readonly inbox?: Inbox | undefined
  /**
   * Decides for every request, the page's files included: `'admin'` may redrive and discard, `'read'` may look, and
   * `false` gets 403. Required. Anything else, and throwing or rejecting, is `false` and logged once a minute: by the
   * receiver's logger, or on the console if there is only an inbox.
   */
  readonly authorize: (request: Request, native: Native) => Authorization | Promise<Authorization>
  /**
   * Host names, besides loopback ones, under which the dashboard replies. Set them if `authorize` goes by the network
   * alone: otherwise a page of another site that makes its own name lead here is let in too. Default: any.
   */
  readonly allowedHosts?: readonly string[] | undefined
  /** Shows the bodies of dead letters. Default `false`: they hold your customers' data. */
  readonly bodies?: boolean | undefined
  /**
   * True if the app is behind a proxy that sets `X-Forwarded-Host`, and that nobody can go around: then that is the host
   * which the pages' calls must come from. Default: the `trust proxy` of Express or the `trustProxy` of Fastify, otherwise `false`.
   */
  readonly trustProxy?: boolean | undefined
  /** Returns the text to show instead of a body or an error text. It gets the text and the event it belongs to. */
  readonly redact?: ((text: string, event: RedactedEvent) => string) | undefined
}

export interface ResolvedDashboard {
  readonly inbox: Inbox
  readonly observe: (observation: Observation) => void
  readonly logger: Logger
  /** Absent without a receiver. */
  readonly activity: Activity | undefined
  readonly authorize: (request: Request, native: unknown) => Authorization | Promise<Authorization>
  /** Absent: any. */
  readonly allowedHosts: readonly string[] | undefined
  readonly bodies: boolean
  /** Absent: as the framework says. */
  readonly trustProxy: boolean | undefined
  readonly redact: (text: string, event: RedactedEvent) => string
}

const NAMES = ['receiver', 'inbox', 'authorize', 'allowedHosts', 'bodies', 'redact', 'trustProxy']

/** Throws `ConfigurationError` for a wrong option. */
export function resolveOptions<Native>(options: DashboardOptions<Native>): ResolvedDashboard {
  refuseUnknownNames(options, NAMES)
  const { authorize, allowedHosts, bodies = false, redact = text => text, trustProxy } = options
  if (typeof authorize !== 'function') {
    throw new ConfigurationError(
      'authorize',
      "is required: (request, native) => 'admin', 'read' or false. Whoever it lets in sees your customers' events",
    )
  }
  if (allowedHosts !== undefined && !isHostList(allowedHosts))
    throw new ConfigurationError('allowedHosts', "must be a list of host names, such as ['ops.example.com']")
  if (typeof bodies !== 'boolean') throw new ConfigurationError('bodies', 'must be true or false')
  if (trustProxy !== undefined && typeof trustProxy !== 'boolean')
    throw new ConfigurationError('trustProxy', 'must be true or false')
  if (typeof redact !== 'function') throw new ConfigurationError('redact', 'must be a function')
  const source = sourceOf(options)
  return {
    ...source,
    authorize: authorize as ResolvedDashboard['authorize'],
    allowedHosts,
    bodies,
    trustProxy,
    redact,
  }
}

function sourceOf({
  receiver,
  inbox,
}: DashboardOptions<never>): Pick<ResolvedDashboard, 'inbox' | 'observe' | 'logger' | 'activity'> {
  if (receiver !== undefined && !isObject(receiver))
    throw new ConfigurationError(
      'receiver',
      'must be made by createReceiver(), or by webhooks() of an adapter',
    )
  if (inbox !== undefined && !isInbox(inbox))
    throw new ConfigurationError('inbox', "must be an inbox, such as sqliteInbox('webhooks.db')")
  if (receiver !== undefined && inbox !== undefined)
    throw new ConfigurationError('receiver', 'give either a receiver, or an inbox without one')
  if (receiver === undefined) {
    if (inbox === undefined)
      throw new ConfigurationError('receiver', 'give either a receiver, or an inbox without one')
    return { inbox, observe: () => {}, logger: consoleLogger, activity: undefined }
  }
  const inspected: InspectedReceiver = inspectReceiver(receiver)
  const activity = new Activity(Date.now)
  receiver.subscribe(observation => activity.observe(observation))
  return { inbox: inspected.inbox, observe: inspected.observe, logger: inspected.logger, activity }
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

function isHostList(value: unknown): boolean {
  return Array.isArray(value) && value.every(one => typeof one === 'string' && hostName(one) !== undefined)
}

function isInbox(inbox: unknown): boolean {
  return isObject(inbox) && 'deadLetters' in inbox && typeof (inbox as Partial<Inbox>).stats === 'function'
}

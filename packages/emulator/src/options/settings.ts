import { LIMITS } from '../lib/limits.ts'
import type { ResolvedEmulator } from './emulator-options.ts'

/** A setting that affects the emulator's behavior. */
export interface SettingView {
  /** Name of the option; fixed limits begin with `limits.`. */
  readonly name: string
  readonly value: string | number | boolean | null
  /** `true` if the platform has published it. Otherwise the value is a guess. */
  readonly published: boolean
  readonly meaning: string
}

/** Returns all settings, with guesses marked. Durations are in milliseconds. */
export function settingsOf(options: ResolvedEmulator, seed: number): readonly SettingView[] {
  const { rules, health, retention } = options
  const guess = (name: string, value: SettingView['value'], meaning: string): SettingView => ({
    ...{ name, value, published: false, meaning },
  })
  const fact = (name: string, value: SettingView['value'], meaning: string): SettingView => ({
    ...{ name, value, published: true, meaning },
  })
  return [
    fact('delivery.header', rules.header, 'Name of the signature header'),
    fact('delivery.scheme', rules.scheme, 'Label of the signature in the header'),
    guess('delivery.timestampUnit', rules.timestampUnit, 'Unit of t'),
    guess('delivery.attempts', rules.attempts, 'Attempts for each event, including the first'),
    guess('delivery.timeout', rules.timeoutMs, 'How long to wait for each reply, in ms of real time'),
    guess('delivery.minDelay', rules.minDelayMs, 'Delay before the second attempt, in ms'),
    guess('delivery.maxDelay', rules.maxDelayMs, 'Longest delay between attempts, in ms'),
    guess('delivery.factor', rules.factor, 'Factor by which each delay grows'),
    guess(
      'delivery.retryWindow',
      rules.retryWindowMs,
      'Longest time from the first attempt to the start of the last, in ms',
    ),
    guess('delivery.honorRetryAfter', rules.honorRetryAfter, 'Whether a longer Retry-After is honored'),
    guess('delivery.insecure', rules.insecure, 'Whether certificates that cannot be verified are accepted'),
    guess('delivery.concurrency', options.concurrency, 'Concurrent requests to one endpoint'),
    guess('rotationOverlap', options.overlapMs, 'How long both secrets sign after a rotation, in ms'),
    guess('health.window', health.windowMs, 'Period over which failures are counted, in ms'),
    guess('health.minAttempts', health.minAttempts, 'Minimum number of attempts for a warning'),
    guess('health.share', health.share, 'Lowest share of failures that causes a warning'),
    guess('messageReply.status', options.messageReply.status, 'Status of the reply to POST /v1/messages'),
    guess(
      'messageReply.body',
      JSON.stringify(options.messageReply.body),
      'Body of the reply to POST /v1/messages',
    ),
    guess('httpsOnly', options.httpsOnly, 'Whether endpoints must use HTTPS, as on the platform'),
    guess(
      'retention.deliveries',
      retention.deliveries,
      'Finished deliveries kept; pending and undelivered ones are never removed',
    ),
    guess('retention.bytes', retention.bytes, 'Bytes of events, requests and replies kept'),
    guess('retention.age', retention.ageMs, 'How long finished deliveries are kept, in ms'),
    guess(
      'retention.undelivered',
      retention.undelivered,
      'Pending and undelivered events; beyond this number, new ones get 503',
    ),
    guess('seed', seed, 'The same seed repeats the same faults and delays'),
    ...Object.entries(LIMIT_MEANINGS).map(([name, meaning]) =>
      guess(`limits.${name}`, textOrNumber(LIMITS[name as keyof typeof LIMITS]), meaning),
    ),
  ]
}

const LIMIT_MEANINGS: Readonly<Record<keyof typeof LIMITS, string>> = {
  eventBytes: 'Bytes of one event',
  nameBytes: "Bytes of an event's id or type",
  messageBytes: 'Bytes of one message',
  phoneNumber: 'Pattern of a phone number; only the leading + is published',
  messages: 'Messages kept',
  messagesBytes: 'Bytes of the messages kept',
  replyBytes: "Bytes kept of each reply's body",
  longReplyBytes: 'Bytes of different long replies kept in memory',
  eventsPerCall: 'Events in one call',
  page: 'Deliveries or messages on one page',
  waitMs: 'How long a wait may take, in ms',
  workspaces: 'Number of workspaces',
}

function textOrNumber(limit: number | RegExp): number | string {
  return limit instanceof RegExp ? limit.source : limit
}

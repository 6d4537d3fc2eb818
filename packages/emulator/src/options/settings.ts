import { LIMITS } from '../lib/limits.ts'
import type { ResolvedEmulator } from './emulator-options.ts'

/** One number or text that decides how the emulator behaves. */
export interface SettingView {
  /** The option's name; `limits.` precedes those that no option sets. */
  readonly name: string
  readonly value: string | number | boolean | null
  /** `true` if the platform has published it. Otherwise the value is a guess. */
  readonly published: boolean
  readonly meaning: string
}

/** Every setting, the guesses marked as such. Durations are milliseconds. */
export function settingsOf(options: ResolvedEmulator, seed: number): readonly SettingView[] {
  const { rules, health, retention } = options
  const guess = (name: string, value: SettingView['value'], meaning: string): SettingView => ({
    ...{ name, value, published: false, meaning },
  })
  const fact = (name: string, value: SettingView['value'], meaning: string): SettingView => ({
    ...{ name, value, published: true, meaning },
  })
  return [
    fact('delivery.header', rules.header, 'Header of the signature'),
    fact('delivery.scheme', rules.scheme, 'Label of the signature'),
    guess('delivery.timestampUnit', rules.timestampUnit, 'How t is written'),
    guess('delivery.attempts', rules.attempts, 'Attempts at one event, the first included'),
    guess('delivery.timeout', rules.timeoutMs, 'How long a reply may take, in ms of real time'),
    guess('delivery.minDelay', rules.minDelayMs, 'Delay before the second attempt, in ms'),
    guess('delivery.maxDelay', rules.maxDelayMs, 'The longest delay, in ms'),
    guess('delivery.factor', rules.factor, 'Each delay times this is the next one'),
    guess('delivery.retryWindow', rules.retryWindowMs, 'No attempt starts later after the first, in ms'),
    guess('delivery.honourRetryAfter', rules.honourRetryAfter, 'Whether a longer Retry-After is honoured'),
    guess('delivery.concurrency', options.concurrency, 'Requests to one endpoint at a time'),
    guess('rotationOverlap', options.overlapMs, 'How long both secrets sign after a rotation, in ms'),
    guess('health.window', health.windowMs, 'Time over which failures are counted, in ms'),
    guess('health.minAttempts', health.minAttempts, 'Attempts below which nothing is judged'),
    guess('health.share', health.share, 'Share of failures from which on there is a warning'),
    guess('messageReply.status', options.messageReply.status, 'Status of the reply to POST /v1/messages'),
    guess('messageReply.body', JSON.stringify(options.messageReply.body), 'Body of that reply'),
    guess('httpsOnly', options.httpsOnly, 'The platform accepts HTTPS alone; here loopback needs none'),
    guess(
      'retention.deliveries',
      retention.deliveries,
      'Deliveries kept; undelivered ones are never removed',
    ),
    guess('retention.bytes', retention.bytes, 'Bytes of events, requests and replies kept'),
    guess('retention.age', retention.ageMs, 'How long finished deliveries are kept, in ms'),
    guess(
      'retention.undelivered',
      retention.undelivered,
      'Pending and undelivered events before new ones get 503',
    ),
    guess('seed', seed, 'Decides faults and delays'),
    ...Object.entries(LIMIT_MEANINGS).map(([name, meaning]) =>
      guess(`limits.${name}`, textOrNumber(LIMITS[name as keyof typeof LIMITS]), meaning),
    ),
  ]
}

const LIMIT_MEANINGS: Readonly<Record<keyof typeof LIMITS, string>> = {
  eventBytes: 'Bytes of one event',
  nameBytes: "Bytes of an event's id and of its type",
  messageBytes: 'Bytes of one message',
  phoneNumber: 'Pattern of a phone number; only the leading + is published',
  messages: 'Messages kept',
  messagesBytes: 'Bytes of the messages kept',
  replyBytes: "Bytes of a reply's body kept of each attempt",
  eventsPerCall: 'Events of one call',
  page: 'Deliveries or messages of one page',
  waitMs: 'How long a wait may take, in ms',
  workspaces: 'Workspaces',
}

function textOrNumber(limit: number | RegExp): number | string {
  return limit instanceof RegExp ? limit.source : limit
}

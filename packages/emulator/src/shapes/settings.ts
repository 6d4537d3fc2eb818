/**
 * Limits without an option. The platform has published none. Those of events and messages are guesses, larger than
 * anything it is likely to send or accept; the others belong to the emulator.
 */
const TABLE = {
  eventBytes: { value: 262_144, meaning: 'Bytes of one event' },
  /** Receivers accept no longer ones. */
  nameBytes: { value: 255, meaning: "Bytes of an event's id or type" },
  /** Lists show whole messages. */
  messageBytes: { value: 65_536, meaning: 'Bytes of one message' },
  phoneNumber: {
    value: /^\+\d{1,15}$/ as RegExp,
    meaning: 'Pattern of a phone number; only the leading + is published',
  },
  messages: { value: 10_000, meaning: 'Messages kept' },
  messagesBytes: { value: 33_554_432, meaning: 'Bytes of the messages kept' },
  replyBytes: { value: 65_536, meaning: "Bytes kept of each reply's body" },
  /** The oldest are shortened. */
  longReplyBytes: { value: 8_388_608, meaning: 'Bytes of different long replies kept in memory' },
  eventsPerCall: { value: 1000, meaning: 'Events in one call' },
  page: { value: 200, meaning: 'Deliveries or messages on one page' },
  waitMs: { value: 60_000, meaning: 'How long a wait may take, in ms' },
  workspaces: { value: 1000, meaning: 'Number of workspaces' },
} as const

type Limits = { readonly [Name in keyof typeof TABLE]: (typeof TABLE)[Name]['value'] }

/** Limits without an option, by name. */
export const LIMITS: Limits = Object.fromEntries(
  Object.entries(TABLE).map(([name, { value }]) => [name, value]),
) as Limits

/** A setting that an option changes. */
export interface Setting {
  readonly meaning: string
  /** `true` if the platform has published it. Otherwise the value is a guess. */
  readonly published?: true
  /** Default, as the help of `ackhook emulator start` shows it. */
  readonly preset?: string
  readonly unit?: 'ms'
}

/** Meaning of every setting that affects the emulator's behavior. Fixed limits begin with `limits.`. */
export const SETTINGS = {
  'delivery.header': { published: true, meaning: 'Name of the signature header' },
  'delivery.scheme': { published: true, meaning: 'Label of the signature in the header' },
  'delivery.timestampUnit': { meaning: 'Unit of t' },
  'delivery.attempts': { preset: '8', meaning: 'Attempts for each event, including the first' },
  'delivery.timeout': { unit: 'ms', preset: '10s', meaning: 'How long to wait for each reply, in real time' },
  'delivery.minDelay': { unit: 'ms', preset: '5s', meaning: 'Delay before the second attempt' },
  'delivery.maxDelay': { unit: 'ms', preset: '1h', meaning: 'Longest delay between attempts' },
  'delivery.factor': { meaning: 'Factor by which each delay grows' },
  'delivery.retryWindow': {
    unit: 'ms',
    meaning: 'Longest time from the first attempt to the start of the last',
  },
  'delivery.honorRetryAfter': { meaning: 'Whether a longer Retry-After is honored' },
  'delivery.insecure': { meaning: 'Whether certificates that cannot be verified are accepted' },
  'delivery.concurrency': { meaning: 'Concurrent requests to one endpoint' },
  rotationOverlap: { unit: 'ms', preset: '24h', meaning: 'How long both secrets sign after a rotation' },
  'health.window': { unit: 'ms', meaning: 'Period over which failures are counted' },
  'health.minAttempts': { meaning: 'Minimum number of attempts for a warning' },
  'health.share': { meaning: 'Lowest share of failures that causes a warning' },
  'messageReply.status': { meaning: 'Status of the reply to POST /v1/messages' },
  'messageReply.body': { meaning: 'Body of the reply to POST /v1/messages' },
  httpsOnly: { meaning: 'Whether endpoints must use HTTPS, as on the platform' },
  'retention.deliveries': {
    meaning: 'Finished deliveries kept; pending and undelivered ones are never removed',
  },
  'retention.bytes': { meaning: 'Bytes of events, requests and replies kept' },
  'retention.age': { unit: 'ms', meaning: 'How long finished deliveries are kept' },
  'retention.undelivered': {
    meaning: 'Pending and undelivered events; beyond this number, new ones get 503',
  },
  seed: { meaning: 'The same seed repeats the same faults and delays' },
} as const

/** Name of a setting that an option changes. */
export type SettingName = keyof typeof SETTINGS

/** A setting that affects the emulator's behavior. */
export interface SettingView {
  /** Name of the option; fixed limits begin with `limits.`. */
  readonly name: string
  /** Durations are in milliseconds. */
  readonly value: string | number | boolean | null
  /** `true` if the platform has published it. Otherwise the value is a guess. */
  readonly published: boolean
  readonly meaning: string
}

/** Lists every setting with its value, and every limit. */
export function settingsOf(
  values: Readonly<Record<SettingName, SettingView['value']>>,
): readonly SettingView[] {
  const settings = Object.entries<Setting>(SETTINGS).map(([name, { published = false, meaning, unit }]) => ({
    ...{ name, published, value: values[name as SettingName] },
    meaning: unit === undefined ? meaning : `${meaning}, in ${unit}`,
  }))
  const limits = Object.entries(TABLE).map(([name, { value, meaning }]) => ({
    ...{ name: `limits.${name}`, published: false, meaning },
    value: value instanceof RegExp ? value.source : value,
  }))
  return [...settings, ...limits]
}

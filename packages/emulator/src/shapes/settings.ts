/**
 * Limits without an option. The platform has published none. Those of events and messages are guesses, larger than
 * anything it is likely to send or accept; the others belong to the emulator.
 */
const TABLE = {
  eventBytes: { value: 262_144, unit: 'bytes', guess: true, meaning: 'Size of one event' },
  /** Receivers accept no longer ones. */
  nameBytes: { value: 255, unit: 'bytes', guess: true, meaning: "Length of an event's id or type" },
  /** Lists show whole messages. */
  messageBytes: { value: 65_536, unit: 'bytes', guess: true, meaning: 'Size of one message' },
  phoneNumber: {
    value: /^\+\d{1,15}$/ as RegExp,
    guess: true,
    meaning: 'Pattern of a phone number; only the leading + is published',
  },
  messages: { value: 10_000, meaning: 'Messages kept' },
  messagesBytes: { value: 33_554_432, unit: 'bytes', meaning: 'Size of the messages kept' },
  replyBytes: { value: 65_536, unit: 'bytes', meaning: "Size kept of each reply's body" },
  /** The oldest are shortened. */
  longReplyBytes: {
    value: 8_388_608,
    unit: 'bytes',
    meaning: 'Size of different long replies kept in memory',
  },
  eventsPerCall: { value: 1000, meaning: 'Events in one call' },
  page: { value: 200, meaning: 'Deliveries or messages on one page' },
  waitMs: { value: 60_000, unit: 'ms', meaning: 'How long a wait may take' },
  workspaces: { value: 1000, meaning: 'Number of workspaces' },
} as const

/** A limit without an option. */
interface Limit {
  readonly value: number | RegExp
  readonly meaning: string
  readonly unit?: 'ms' | 'bytes'
  /** `true` if it stands for a limit of the platform. The others are the emulator's own. */
  readonly guess?: true
}

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
  readonly unit?: 'ms' | 'bytes'
  /** `true` if it is about the emulator alone, so that the platform has nothing to publish. */
  readonly own?: true
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
  'delivery.insecure': { own: true, meaning: 'Whether certificates that cannot be verified are accepted' },
  'delivery.concurrency': { meaning: 'Concurrent requests to one endpoint' },
  rotationOverlap: { unit: 'ms', preset: '24h', meaning: 'How long both secrets sign after a rotation' },
  'health.window': { unit: 'ms', meaning: 'Period over which failures are counted' },
  'health.minAttempts': { meaning: 'Minimum number of attempts for a warning' },
  'health.share': { meaning: 'Lowest share of failures that causes a warning' },
  'messageReply.status': { meaning: 'Status of the reply to POST /v1/messages' },
  'messageReply.body': { meaning: 'Body of the reply to POST /v1/messages' },
  httpsOnly: { own: true, meaning: 'Whether endpoints must use HTTPS, as on the platform' },
  'retention.deliveries': {
    own: true,
    meaning: 'Finished deliveries kept; pending and undelivered ones are never removed',
  },
  'retention.bytes': { own: true, unit: 'bytes', meaning: 'Size of the events, requests and replies kept' },
  'retention.age': { own: true, unit: 'ms', meaning: 'How long finished deliveries are kept' },
  'retention.undelivered': {
    own: true,
    meaning: 'Pending and undelivered events; beyond this number, new ones get 503',
  },
  seed: { own: true, meaning: 'The same seed repeats the same faults and delays' },
} as const

/** Name of a setting that an option changes. */
export type SettingName = keyof typeof SETTINGS

/** A setting that affects the emulator's behavior. */
export interface SettingView {
  /** Name of the option; fixed limits begin with `limits.`. */
  readonly name: string
  /** Durations are in milliseconds, sizes in bytes. */
  readonly value: string | number | boolean | null
  /** The value as a person writes it: `24 h`, `256 MiB`. */
  readonly text: string
  /** `true` if the platform has published it, `false` for a guess, null if it is about the emulator alone. */
  readonly published: boolean | null
  readonly meaning: string
}

/** Lists every setting with its value, and every limit. */
export function settingsOf(
  values: Readonly<Record<SettingName, SettingView['value']>>,
): readonly SettingView[] {
  const settings = Object.entries<Setting>(SETTINGS).map(([name, { published, own, meaning, unit }]) => {
    const value = values[name as SettingName]
    return {
      ...{ name, value, text: textOf(value, unit), meaning },
      published: own === true ? null : published === true,
    }
  })
  const limits = Object.entries<Limit>(TABLE).map(([name, { value: limit, unit, guess, meaning }]) => {
    const value = limit instanceof RegExp ? limit.source : limit
    return {
      ...{ name: `limits.${name}`, value, text: textOf(value, unit), meaning },
      published: guess === true ? false : null,
    }
  })
  return [...settings, ...limits]
}

const TIMES: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
]

/** Writes a value in the largest unit of which it is a whole number; a day is 24 h. */
function textOf(value: SettingView['value'], unit: Setting['unit']): string {
  if (typeof value !== 'number' || unit === undefined) return String(value)
  if (unit === 'bytes') {
    const [size, name] = value % 1_048_576 === 0 ? [1_048_576, 'MiB'] : [1024, 'KiB']
    return value >= 1024 && value % size === 0 ? `${value / size} ${name}` : `${value} bytes`
  }
  const [ms, name] = TIMES.find(([ms]) => value > ms && value % ms === 0) ??
    TIMES.find(([ms]) => value === ms && ms < 86_400_000) ?? [1, 'ms']
  return `${value === 86_400_000 ? 24 : value / ms} ${value === 86_400_000 ? 'h' : name}`
}

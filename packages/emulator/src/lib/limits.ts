/**
 * Limits without an option. The platform has published none. Those of events and messages are guesses, larger than
 * anything it is likely to send or accept; the others belong to the emulator.
 */
export const LIMITS = {
  /** Maximum size of an event, in bytes. */
  eventBytes: 262_144,
  /** Maximum length of an event's id or type, in bytes. Receivers accept no longer ones. */
  nameBytes: 255,
  /** Maximum size of a message, in bytes. Lists show whole messages. */
  messageBytes: 65_536,
  /** Pattern of a phone number. The leading plus is published, the number of digits is not. */
  phoneNumber: /^\+\d{1,15}$/ as RegExp,
  /** Number of messages kept. */
  messages: 10_000,
  /** Total bytes of the messages kept. */
  messagesBytes: 33_554_432,
  /** Bytes kept of each reply's body. */
  replyBytes: 65_536,
  /** Bytes of different long replies that are kept in memory. The oldest are shortened. */
  longReplyBytes: 8_388_608,
  /** Maximum number of events in one call. */
  eventsPerCall: 1000,
  /** Maximum number of deliveries or messages on a page. */
  page: 200,
  /** Longest wait, in milliseconds. */
  waitMs: 60_000,
  workspaces: 1000,
} as const

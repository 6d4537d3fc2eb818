/**
 * Limits that no option sets. The platform has published none of its own: those of events and messages are guesses,
 * larger than anything it is likely to send or accept. The others are the emulator's own.
 */
export const LIMITS = {
  /** Bytes of one event. */
  eventBytes: 262_144,
  /** Bytes of an event's id and of its type. A receiver takes no longer ones. */
  nameBytes: 255,
  /** Bytes of one message: every list shows whole ones. */
  messageBytes: 65_536,
  /** A leading plus is published. How many digits may follow is not. */
  phoneNumber: /^\+\d{1,15}$/ as RegExp,
  /** Messages that are kept. */
  messages: 10_000,
  /** Bytes of their contents together. */
  messagesBytes: 33_554_432,
  /** Bytes of a reply's body that are kept of each attempt. */
  replyBytes: 65_536,
  /** Events of one call. */
  eventsPerCall: 1000,
  /** Deliveries or messages of one page. */
  page: 200,
  /** Longest wait, in milliseconds. */
  waitMs: 60_000,
  workspaces: 1000,
} as const

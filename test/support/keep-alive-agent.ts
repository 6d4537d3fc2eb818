import { Agent } from 'node:http'

/**
 * Creates an agent that reuses connections, like a platform, and closes them before the receiver does. Without a
 * `timeout`, Node's agent ignores the receiver's `Keep-Alive: timeout=5`: on a busy machine it then uses a connection that
 * the receiver closes at that moment, and gets a reset instead of a reply.
 */
export function keepAliveAgent(maxSockets: number): Agent {
  return new Agent({ keepAlive: true, maxSockets, timeout: 60_000 })
}

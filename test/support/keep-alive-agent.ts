import { Agent } from 'node:http'

/**
 * Connections that are reused, as a platform's are, and given up before the receiver closes them. Without a `timeout`
 * Node's agent ignores the receiver's `Keep-Alive: timeout=5`: beside a busy core it then sends on a connection that the
 * receiver closes at that moment, and gets a reset instead of a reply.
 */
export function keepAliveAgent(maxSockets: number): Agent {
  return new Agent({ keepAlive: true, maxSockets, timeout: 60_000 })
}

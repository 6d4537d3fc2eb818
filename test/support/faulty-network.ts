import { startHoldingProxy } from './holding-proxy.ts'
import { startReplyDroppingProxy } from './reply-dropping-proxy.ts'
import { startSwitchingProxy } from './switching-proxy.ts'

/** What a network does to the next call. */
export const NETWORK_FAULTS = ['stalls', 'drops the reply', 'delays'] as const
export type NetworkFault = (typeof NETWORK_FAULTS)[number]

export interface FaultyNetwork {
  readonly port: number
  /** Begins the fault. Until then, everything passes. */
  begin(): void
  stop(): Promise<void>
}

/** Milliseconds of a delay, in each direction. */
const DELAY_MS = 100

/** Starts a proxy with one fault in front of a server. */
export async function startFaultyNetwork(fault: NetworkFault, targetPort: number): Promise<FaultyNetwork> {
  if (fault === 'stalls') {
    const proxy = await startHoldingProxy(targetPort)
    return { port: proxy.port, begin: () => proxy.holdAfter(0), stop: () => proxy.stop() }
  }
  if (fault === 'delays') {
    const proxy = await startSwitchingProxy(targetPort)
    return { port: proxy.port, begin: () => proxy.delay(DELAY_MS), stop: () => proxy.stop() }
  }
  const proxy = await startReplyDroppingProxy(targetPort, 1)
  return { port: proxy.port, begin: () => proxy.dropReplyTo('HTTP/1.1'), stop: () => proxy.stop() }
}

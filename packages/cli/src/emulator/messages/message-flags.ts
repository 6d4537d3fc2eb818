import type { EndpointFlags, PlaceFlags } from '../lib/emulator-flags.ts'

export interface SendMessageFlags extends PlaceFlags {
  readonly channel: string
  readonly to: string
  readonly template: string
  readonly variables?: string
}

export interface ReceiveMessageFlags extends EndpointFlags {
  readonly from: string
  readonly channel?: string
}

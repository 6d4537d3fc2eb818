import type { Order } from '../../command/shared-options.ts'

/** How a verb finds the emulator. */
export interface PlaceFlags {
  readonly at?: string
  readonly json?: boolean
}

/** Which workspace is meant. */
export interface EndpointFlags extends PlaceFlags {
  readonly workspace?: string
}

export interface PageFlags extends PlaceFlags {
  readonly limit: number
  readonly after?: string
  readonly order: Order
}

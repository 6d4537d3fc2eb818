/** How a verb finds the emulator. */
export interface PlaceFlags {
  readonly at?: string
  readonly json?: boolean
}

/** Which workspace is meant. */
export interface EndpointFlags extends PlaceFlags {
  readonly workspace?: string
}

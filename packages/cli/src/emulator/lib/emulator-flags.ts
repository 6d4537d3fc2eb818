/** Flags by which a verb finds the emulator. */
export interface PlaceFlags {
  readonly at?: string
  readonly json?: boolean
}

/** Flags that name the workspace. */
export interface EndpointFlags extends PlaceFlags {
  readonly workspace?: string
}

/** Flags of every verb that calls the emulator. */
export interface PlaceFlags {
  readonly at?: string
  readonly json?: boolean
}

/** Flags that select the workspace. */
export interface EndpointFlags extends PlaceFlags {
  readonly workspace?: string
}

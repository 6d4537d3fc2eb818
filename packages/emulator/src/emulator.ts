import type { EmulatorApi, WaitOptions, WaitResult } from './api/emulator-api.ts'

/** A running emulator. */
export interface Emulator {
  /** Base URL, without a trailing slash. */
  readonly url: string
  /** All operations, called in-process rather than over HTTP. */
  readonly api: EmulatorApi
  /** Signing secret of the default workspace's endpoint, if `startEmulator` set or generated it. */
  readonly secret: string | undefined
  /**
   * Resolves when enough events match, or without a filter when nothing is pending. Rejects with `EmulatorError` after
   * `timeout`, in real time: 10 seconds by default.
   */
  wait(options?: WaitOptions): Promise<WaitResult>
  /** Empties the log: see {@link EmulatorApi.reset}. */
  reset(options?: { readonly everything?: boolean | undefined }): Promise<void>
  /** Stops the emulator. Pending deliveries in a data file continue when an emulator starts with that file. */
  close(): Promise<void>
}

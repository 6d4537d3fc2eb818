import type { EmulatorApi, WaitOptions, WaitResult } from './api/emulator-api.ts'

/** A running emulator. */
export interface Emulator {
  /** Base URL, without a slash at the end. */
  readonly url: string
  /** Everything it can do, without a detour over HTTP. */
  readonly api: EmulatorApi
  /** The signing secret of the default workspace's endpoint, if this call has set or made it. */
  readonly secret: string | undefined
  /**
   * Resolves when enough events match, or without a filter when nothing is pending. Rejects with `EmulatorError` after
   * `timeout`, in real time: 10 seconds by default.
   */
  wait(options?: WaitOptions): Promise<WaitResult>
  /** Empties the log: see {@link EmulatorApi.reset}. */
  reset(options?: { readonly everything?: boolean | undefined }): Promise<void>
  /** Ends everything. What was pending in a file goes on when an emulator is started with it. */
  close(): Promise<void>
}

import type { Batches } from '../batches/batches.ts'
import type { EmulatorClock } from '../clock/emulator-clock.ts'
import type { DeliveryEngine } from '../delivery/engine.ts'
import type { FaultSource } from '../delivery/fault-source.ts'
import type { Housekeeping } from '../delivery/housekeeping.ts'
import type { Intake } from '../delivery/intake.ts'
import type { DeliveryCounts } from '../delivery/log-room.ts'
import type { Endpoints } from '../endpoints/endpoints.ts'
import type { ChangeFeed } from '../feed/change-feed.ts'
import type { Waiters } from '../feed/waiters.ts'
import type { ResolvedEmulator } from '../options/emulator-options.ts'
import type { Targets } from '../security/targets.ts'
import type { Storage } from '../storage/storage.ts'

/** Parts that the operations share. */
export interface Parts {
  readonly options: ResolvedEmulator
  readonly version: string
  readonly seed: number
  readonly storage: Storage
  readonly clock: EmulatorClock
  readonly counts: DeliveryCounts
  readonly faults: FaultSource
  readonly endpoints: Endpoints
  readonly intake: Intake
  readonly engine: DeliveryEngine
  readonly feed: ChangeFeed
  readonly waiters: Waiters
  readonly housekeeping: Housekeeping
  readonly batches: Batches
  readonly targets: Targets
  /** Announces that a delivery has been added or changed. */
  changed(seq: number): void
}

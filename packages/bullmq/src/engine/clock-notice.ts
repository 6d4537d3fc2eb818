import type { StoreNotice } from '@ackhook/core/spi'

/** Less does no harm: retries wait for seconds. */
const STEPS_S = [3600, 600, 60, 10, 2]

/** When the server was asked for its time and when it had answered, by this process's clock, in milliseconds. */
export interface AskedBetween {
  readonly sentAt: number
  readonly answeredAt: number
}

/** At most one: this process's clock differs from the server's. In coarse steps, so that one that drifts is not reported each time. */
export function clockNotice(
  server: string,
  serverMs: number,
  { sentAt, answeredAt }: AskedBetween,
): readonly StoreNotice[] {
  const [aheadMs, behindMs] = [sentAt - serverMs, serverMs - answeredAt]
  const step = STEPS_S.find(seconds => Math.max(aheadMs, behindMs) > seconds * 1000)
  if (step === undefined) return []
  return [
    {
      code: 'clock_differs',
      message: `The clock of this process is more than ${step} s ${aheadMs > 0 ? 'ahead of' : 'behind'} that of ${server}: retries start too early or too late where processes differ. Synchronise both.`,
    },
  ]
}

import type { StoreNotice } from '@ackhook/core/spi'

/** Reported differences. Less is harmless: retries wait for seconds. */
const STEPS_S = [3600, 600, 60, 10, 2]

/** Times, by this process's clock in milliseconds, at which the server's time was requested and received. */
export interface AskedBetween {
  readonly sentAt: number
  readonly answeredAt: number
}

/**
 * Returns at most one notice: that the two clocks differ. The difference is given in coarse steps, so that a drifting
 * clock is not reported each time.
 */
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
      message: `This process's clock is more than ${step} s ${aheadMs > 0 ? 'ahead of' : 'behind'} that of ${server}: retries start too early or too late if clocks differ. Synchronize both.`,
    },
  ]
}

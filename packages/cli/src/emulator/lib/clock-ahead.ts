/** A receiver's default tolerance. */
const TOLERANCE_MS = 300_000

/** Warns if the emulator's clock, at `time`, is further ahead of this machine's than receivers accept. */
export function clockAhead(time: string | null): string | undefined {
  const aheadMs = time === null ? 0 : Date.parse(time) - Date.now()
  if (aheadMs <= TOLERANCE_MS) return undefined
  const minutes = Math.round(aheadMs / 60_000)
  return `The emulator's clock is ${minutes} minutes ahead of this machine's. An app that does not follow it refuses every signature: npx ackhook emulator reset resets the clock and empties the log. To make an attempt early, use retry, which needs no advance.`
}

/** Letters in memory at a time. */
const LANES = 4

/** Runs `work` on a few items at a time, and returns the results in the order of the items. */
export async function inLanes<T, Result>(
  items: readonly T[],
  work: (item: T) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  const rest = items.entries()
  const lane = async (): Promise<void> => {
    for (const [index, item] of rest) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return results
}

/** So many letters are in memory at a time. */
const LANES = 4

/** The results of `work` for each item, in their order. A few of them are under way at a time. */
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

/** Runs `task` for every item, `limit` of them at one time, each started in the order of the list. */
export async function runInParallel<T>(
  items: readonly T[],
  limit: number,
  task: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values()
  const lanes = Math.min(items.length, limit)
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const item of left) await task(item)
    }),
  )
}

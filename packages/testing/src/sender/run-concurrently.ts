/** Runs `task` for every item, at most `limit` at a time, in list order. */
export async function runConcurrently<T>(
  items: readonly T[],
  limit: number,
  task: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values()
  await Promise.all(
    Array.from({ length: Math.min(items.length, limit) }, async () => {
      for (const item of left) await task(item)
    }),
  )
}

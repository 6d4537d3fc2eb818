/** Waits until `condition` holds, and fails with `what` after `timeoutMs`. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`after ${timeoutMs} ms still not: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

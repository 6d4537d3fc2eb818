/** Waits until `condition` holds, and fails with `what` after `timeoutMs`: by default, less than a test may take. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 50_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`timed out after ${timeoutMs} ms waiting until ${what}`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

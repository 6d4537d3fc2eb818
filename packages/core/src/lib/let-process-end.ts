/** Lets the process end while a timer is pending. Outside Node a timer is a number, and never prevents that. */
export function letProcessEnd(timer: unknown): void {
  if (typeof timer === 'object') (timer as { unref?: () => void } | null)?.unref?.()
}

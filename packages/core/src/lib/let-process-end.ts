/** A timer that alone must not keep a process alive. Off Node it is a number, and keeps none. */
export function letProcessEnd(timer: unknown): void {
  if (typeof timer === 'object') (timer as { unref?: () => void } | null)?.unref?.()
}

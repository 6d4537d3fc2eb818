/** Returns milliseconds by a clock that a machine's threads and processes share and that cannot be set. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1000 + nanoseconds / 1e6
}

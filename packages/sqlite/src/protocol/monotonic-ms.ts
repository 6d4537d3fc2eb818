/** Milliseconds by a clock that all threads and processes of a machine share, and that cannot be set. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1000 + nanoseconds / 1e6
}

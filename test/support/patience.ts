import { vi } from 'vitest'

/** Vitest's own limit for a wait, a second, would be a bound on the speed of the machine. */
const LIMIT_MS = 20_000

const { waitFor } = vi

// Where files share a process, this runs before each of them.
if (waitFor.name !== 'waitPatiently') {
  vi.waitFor = function waitPatiently(callback, options = {}) {
    return waitFor(callback, typeof options === 'number' ? options : { timeout: LIMIT_MS, ...options })
  }
}

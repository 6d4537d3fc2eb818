import { vi } from 'vitest'

/** Limit for waits. Vitest's own, one second, would fail on slow machines. */
const LIMIT_MS = 20_000

const { waitFor } = vi

// If test files share a process, this runs before each of them.
if (waitFor.name !== 'waitPatiently') {
  vi.waitFor = function waitPatiently(callback, options = {}) {
    return waitFor(callback, typeof options === 'number' ? options : { timeout: LIMIT_MS, ...options })
  }
}

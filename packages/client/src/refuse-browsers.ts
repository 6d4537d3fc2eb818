import { misconfigured } from './client-error.ts'

interface Surroundings {
  readonly process?: { readonly versions?: { readonly node?: string } }
  readonly Bun?: unknown
  readonly Deno?: unknown
  /** Global that only workerd has. */
  readonly WebSocketPair?: unknown
  readonly window?: unknown
  readonly WorkerGlobalScope?: unknown
}

/** Throws in a browser. Not done by an export condition: bundlers for Workers and jsdom use `browser` too. */
export function refuseBrowsers(surroundings: Surroundings = globalThis as Surroundings): void {
  const { process, Bun, Deno, WebSocketPair, window, WorkerGlobalScope } = surroundings
  // A bundler's stand-in for `process` has no versions.
  if (process?.versions?.node ?? Bun ?? Deno ?? WebSocketPair) return
  if (window ?? WorkerGlobalScope) {
    throw misconfigured('Client', 'is for servers; in a browser, anyone could read the API key')
  }
}

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

/** Throws on a Node that is too old, where a call would fail in the middle. */
export function refuseOldNode(surroundings: Surroundings = globalThis as Surroundings): void {
  const { process, Bun, Deno } = surroundings
  // Bun and Deno name a Node version of their own choice.
  const node = Bun === undefined && Deno === undefined ? process?.versions?.node : undefined
  const [major = 0, minor = 0] = (node ?? '').split('.').map(Number)
  if (node === undefined || major > 20 || (major === 20 && minor >= 19)) return
  throw misconfigured('Client', `needs Node 20.19 or later; this is Node ${node}`)
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

/** Keeps the host alive until the promise has settled. */
export type WaitUntil = (work: Promise<unknown>) => void

/** Globals that hold the context of each request: Vercel's in every runtime, OpenNext's on Cloudflare, and Netlify's. */
const VERCEL = Symbol.for('@vercel/request-context')
const OPEN_NEXT = Symbol.for('__cloudflare-context__')
const NETLIFY = 'Netlify'

/** Where frameworks keep the host's context in the argument that they pass to a route. */
const PLACES: readonly (readonly string[])[] = [
  ['platform', 'ctx'], // SvelteKit, Qwik City
  ['platform', 'context'], // SvelteKit before version 3 of its Cloudflare adapter
  ['locals', 'cfContext'], // Astro
  ['locals', 'runtime', 'ctx'], // Astro before version 13 of its Cloudflare adapter
  ['cloudflare', 'ctx'], // React Router and Remix: their `context`
  ['context', 'cloudflare', 'ctx'], // React Router and Remix: the whole argument of an action
  ['context', 'cloudflare', 'context'], // Nitro: an event of h3
]

/**
 * Finds the function that keeps a host alive after the reply. Workers pass it in the third argument, Netlify in the
 * second, frameworks nested in the second, srvx with the request, Vercel and others globally. `undefined` if there is
 * none.
 */
export function findWaitUntil(env: unknown, execution: unknown, request?: unknown): WaitUntil | undefined {
  const holder = passed(env, execution) ?? holding(request) ?? ofGlobals()
  // Called as a method: hosts refuse any other `this`.
  return holder === undefined ? undefined : work => holder.waitUntil(work)
}

function passed(env: unknown, execution: unknown): Holder | undefined {
  const direct = holding(execution) ?? holding(env)
  if (direct !== undefined || typeof env !== 'object' || env === null) return direct
  for (const place of PLACES) {
    const nested = holding(read(env, place))
    if (nested !== undefined) return nested
  }
  return undefined
}

function ofGlobals(): Holder | undefined {
  // Read in every request, and most hosts have none of them.
  if (!(VERCEL in globalThis || OPEN_NEXT in globalThis || NETLIFY in globalThis)) return undefined
  return (
    holding(contextOnVercel()) ??
    holding(read(globalThis, [OPEN_NEXT, 'ctx'])) ??
    holding(read(globalThis, [NETLIFY, 'context']))
  )
}

interface Holder {
  readonly waitUntil: WaitUntil
}

function holding(value: unknown): Holder | undefined {
  if (value === undefined || value === null) return undefined
  return typeof read(value, ['waitUntil']) === 'function' ? (value as Holder) : undefined
}

function contextOnVercel(): unknown {
  try {
    return (read(globalThis, [VERCEL]) as { get?(): unknown } | undefined)?.get?.()
  } catch {
    return undefined
  }
}

/** Reads the property at a path. `undefined` if part of it is missing or a getter throws. */
function read(value: unknown, path: readonly PropertyKey[]): unknown {
  try {
    return path.reduce(
      (found, name) => (found as Record<PropertyKey, unknown> | null | undefined)?.[name],
      value,
    )
  } catch {
    return undefined
  }
}

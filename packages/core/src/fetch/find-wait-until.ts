/** Keeps the host alive until the promise has settled. */
export type WaitUntil = (work: Promise<unknown>) => void

/** Global that holds each request's context on Vercel, in every runtime. */
const VERCEL = Symbol.for('@vercel/request-context')

/**
 * Finds the function that keeps a host alive after the reply. Workers pass it in the third argument, Netlify in the
 * second, SvelteKit and Astro nested in the second, Vercel globally. `undefined` if there is none.
 */
export function findWaitUntil(env: unknown, execution: unknown): WaitUntil | undefined {
  const holders = [
    execution,
    env,
    read(env, 'platform', 'ctx'),
    read(env, 'platform', 'context'),
    read(env, 'locals', 'runtime', 'ctx'),
    contextOnVercel(),
  ]
  const holder = holders.find(one => typeof read(one, 'waitUntil') === 'function')
  // Called as a method: hosts refuse any other `this`.
  return holder === undefined ? undefined : work => (holder as { waitUntil: WaitUntil }).waitUntil(work)
}

function contextOnVercel(): unknown {
  try {
    return (read(globalThis, VERCEL) as { get?(): unknown } | undefined)?.get?.()
  } catch {
    return undefined
  }
}

/** Reads the property at a path. `undefined` if part of it is missing or a getter throws. */
function read(value: unknown, ...path: readonly PropertyKey[]): unknown {
  try {
    return path.reduce(
      (found, name) => (found as Record<PropertyKey, unknown> | null | undefined)?.[name],
      value,
    )
  } catch {
    return undefined
  }
}

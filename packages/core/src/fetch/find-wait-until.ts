/** Keeps the host alive until the promise has settled. */
export type WaitUntil = (work: Promise<unknown>) => void

/** Vercel keeps the context of each request there, in every runtime. */
const VERCEL = Symbol.for('@vercel/request-context')

/**
 * The function that keeps a host alive after the reply, from what it passes beside the request: Workers as the third
 * argument, Netlify as the second, SvelteKit and Astro inside of theirs, Vercel globally. `undefined` where there is none.
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

/** A property at a path. `undefined` if a part of it is missing, or is a getter that throws. */
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

import { afterEach, expect, it, vi } from 'vitest'
import { findWaitUntil } from './find-wait-until.ts'

/** A host whose method refuses any other `this`. */
function host() {
  const kept: unknown[] = []
  const context = {
    kept,
    waitUntil(this: { kept: unknown[] }, work: Promise<unknown>) {
      this.kept.push(work)
    },
  }
  return context
}
const VERCEL = Symbol.for('@vercel/request-context')
const OPEN_NEXT = Symbol.for('__cloudflare-context__')
afterEach(() => {
  for (const name of [VERCEL, OPEN_NEXT, 'Netlify']) Reflect.deleteProperty(globalThis, name)
})

it.each([
  ['the third argument of a Worker', (context: object) => [{}, context]],
  ['the second argument of a Netlify function', (context: object) => [context, undefined]],
  ["SvelteKit's platform.ctx", (ctx: object) => [{ platform: { ctx } }, undefined]],
  ["SvelteKit's platform.context", (context: object) => [{ platform: { context } }, undefined]],
  ["Astro's locals.cfContext", (cfContext: object) => [{ locals: { cfContext } }, undefined]],
  ["React Router's context", (ctx: object) => [{ cloudflare: { ctx } }, undefined]],
  ["React Router's argument", (ctx: object) => [{ context: { cloudflare: { ctx } } }, undefined]],
  ["Nitro's event", (context: object) => [{ context: { cloudflare: { context } } }, undefined]],
  ['the request of srvx', (context: object) => [{}, undefined, context]],
  ["Astro's locals.runtime.ctx", (ctx: object) => [{ locals: { runtime: { ctx } } }, undefined]],
])('finds waitUntil in %s', (_, place) => {
  const context = host()
  const [env, execution, request] = place(context)
  const work = Promise.resolve()
  findWaitUntil(env, execution, request)?.(work)
  expect(context.kept).toEqual([work])
})

it.each([
  ["Vercel's request context", (context: object) => ({ [VERCEL]: { get: () => context } })],
  ["OpenNext's context on Cloudflare", (ctx: object) => ({ [OPEN_NEXT]: { ctx } })],
  ["Netlify's context", (context: object) => ({ Netlify: { context } })],
])('finds waitUntil in the global of %s', (_, globals) => {
  const context = host()
  Object.assign(globalThis, globals(context))
  findWaitUntil({ params: {} }, undefined)?.(Promise.resolve())
  expect(context.kept).toHaveLength(1)
})

it('finds none if there is none, or if the lookup throws', () => {
  expect(findWaitUntil(undefined, undefined)).toBeUndefined()
  expect(findWaitUntil({ waitUntil: 'soon', params: {} }, null)).toBeUndefined()
  const throwing = Object.defineProperty({}, 'waitUntil', {
    get: vi.fn(() => {
      throw new Error('no context')
    }),
  })
  expect(findWaitUntil(throwing, throwing)).toBeUndefined()
})

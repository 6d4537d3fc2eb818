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
afterEach(() => {
  Reflect.deleteProperty(globalThis, VERCEL)
})

it.each([
  ['the third argument of a Worker', (context: object) => [{}, context]],
  ['the second argument of a Netlify function', (context: object) => [context, undefined]],
  ["SvelteKit's platform.ctx", (ctx: object) => [{ platform: { ctx } }, undefined]],
  ["SvelteKit's platform.context", (context: object) => [{ platform: { context } }, undefined]],
  ["Astro's locals.runtime.ctx", (ctx: object) => [{ locals: { runtime: { ctx } } }, undefined]],
])('finds waitUntil in %s', (_, place) => {
  const context = host()
  const [env, execution] = place(context)
  const work = Promise.resolve()
  findWaitUntil(env, execution)?.(work)
  expect(context.kept).toEqual([work])
})

it("finds waitUntil in Vercel's request context", () => {
  const context = host()
  Object.assign(globalThis, { [VERCEL]: { get: () => context } })
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

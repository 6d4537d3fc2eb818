import { expect, it } from 'vitest'
import { refuseBrowsers } from './refuse-browsers.ts'

it.each<[string, Parameters<typeof refuseBrowsers>[0]]>([
  ['a page', { window: {} }],
  ["a page's worker", { WorkerGlobalScope: class {} }],
  ['a page with a stand-in for process', { window: {}, process: { versions: {} } }],
])('refuses %s', (_, globals) => {
  expect(() => refuseBrowsers(globals)).toThrow('for servers')
})

it.each<[string, Parameters<typeof refuseBrowsers>[0]]>([
  ['jsdom under Node', { window: {}, process: { versions: { node: '20.19.0' } } }],
  ['Bun', { Bun: {} }],
  ['Deno', { Deno: {}, window: {}, WorkerGlobalScope: class {} }],
  ['workerd', { WebSocketPair: class {}, WorkerGlobalScope: class {} }],
  ['an unknown runtime', {}],
])('accepts %s', (_, globals) => {
  expect(() => refuseBrowsers(globals)).not.toThrow()
})

import { expect, it } from 'vitest'
import { refuseBrowsers, refuseOldNode } from './refuse-browsers.ts'

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

it.each(['18.20.8', '20.11.1', '20.18.3'])('Node %s is told which one it needs', node => {
  expect(() => refuseOldNode({ process: { versions: { node } } })).toThrow('needs Node 20.19 or later')
})

it.each<[string, Parameters<typeof refuseOldNode>[0]]>([
  ['Node 20.19', { process: { versions: { node: '20.19.0' } } }],
  ['Node 22', { process: { versions: { node: '22.0.0' } } }],
  ['Deno, which names a Node of its own choice', { Deno: {}, process: { versions: { node: '20.11.1' } } }],
  ['workerd', { WebSocketPair: class {} }],
])('%s is not too old', (_, globals) => {
  expect(() => refuseOldNode(globals)).not.toThrow()
})

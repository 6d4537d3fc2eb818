import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { expect, it } from 'vitest'
import { ROOT } from '../support/workspace-packages.ts'

const WORKERS = ['workerd', 'worker', 'browser', 'import']
/** React Router's build for Workers also sets Node's condition. */
const WORKERS_AND_NODE = ['workerd', 'worker', 'module', 'browser', 'node', 'import']
const EDGE_AND_NODE = ['edge-light', 'node', 'import']
/** Packages to bundle as Wrangler does: only the runtime's own modules are external. */
const bundles = { '@ackhook/hono': 'webhooks', '@ackhook/core/node': 'toNodeHandler' }

it.each(
  Object.entries(bundles).flatMap(([name, used]) =>
    [WORKERS, WORKERS_AND_NODE, EDGE_AND_NODE].map(conditions => [name, conditions, used] as const),
  ),
)(
  'a Worker bundle of %s for %j has neither raw-body nor its dependencies, and no Node modules',
  async (name, conditions, used) => {
    const { code, modules } = await bundle(name, used, conditions)
    expect(modules.filter(path => /shared\/raw-body/.test(path))).toEqual([])
    expect(code).not.toMatch(/iconv|entity\.too\.large|\brequire\(|["']node:|async_hooks/)
    expect(code).toContain('body_timeout')
    expect(code.includes('readableDidRead')).toBe(name === '@ackhook/core/node')
  },
)

it.each(Object.entries(bundles))('the same bundle of %s for Node uses raw-body', async (name, used) => {
  const { code, modules } = await bundle(name, used, ['node', 'import'])
  expect(modules.some(path => path.includes('/shared/raw-body'))).toBe(true)
  expect(code).toContain('entity.too.large')
})

it('requires nothing at run time: a bundle in the format of modules has no require', () => {
  const files = ['raw-body', 'rolldown-runtime'].map(name => `${ROOT}packages/core/dist/shared/${name}.js`)
  for (const file of files) expect(readFileSync(file, 'utf8')).not.toMatch(/(?<![.\w])require\(/)
})

it('a Worker that acknowledges after processing stays within its size, dependencies included', async () => {
  const { code } = await bundle(
    '@ackhook/hono',
    "webhooks({ secret: 'whsec_of_a_project_in_a_test', acknowledge: 'after-processing' })",
    WORKERS,
  )
  const bytes = gzipSync(code, { level: 9 }).length
  process.stdout.write(`a Worker with 'after-processing': ${bytes} bytes min+gzip\n`)
  // 31,200 before leases that are known to hold, bounds on bodies, requests that cannot be read, the weight of an event,
  // and options for shared slots; 37,100 before it told which secret verifies, noticed that no delivery arrives and kept
  // invalid events; 42,200 before taps and counts of what an inbox does; 44,500 before bodies that are given up for others, kept
  // undos, shares of namespaces, lazy answers, own events for handlers, and printed secrets. lru-cache is 5600 of it, the rest of the memory inbox 7800. Nothing reads a request of Node here.
  expect(bytes).toBeLessThan(53_000)
})

/** Bundles the built packages, without comments. `used`: an expression that begins with the imported name. */
async function bundle(name: string, used: string, conditionNames: readonly string[]) {
  const entry = `${ROOT}test/packaging/entry.mjs`
  const bundle = await rolldown({
    input: entry,
    platform: conditionNames[0] === 'node' ? 'node' : 'browser',
    resolve: { conditionNames: [...conditionNames] },
    plugins: [
      {
        name: 'entry',
        resolveId: id => (id === entry ? id : undefined),
        load: id =>
          id === entry
            ? `import { ${/^\w+/.exec(used)?.[0]} } from '${name}'\nconsole.log(${used})`
            : undefined,
      },
    ],
  })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  const [{ code, moduleIds }] = output
  return { code, modules: moduleIds }
}

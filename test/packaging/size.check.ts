import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { expect, it } from 'vitest'
import { ROOT, workspacePackages } from '../support/workspace-packages.ts'

/** What only durable inboxes load. Each has a bound of its own. */
const BY_INBOXES: Readonly<Record<string, number>> = { sharing: 2250, push: 3300 }

/** Bytes, minified and compressed, of all other entry points together and without dependencies. */
const BUDGETS: Readonly<Record<string, number>> = {
  // 24,000 when it was made small, beside lru-cache and raw-body. Since then: reports of faults, what the log tells an
  // operator, the bound on bytes in memory, and shutdown and health, which a bundler drops where nothing calls them.
  '@ackhook/core': 30_000,
  '@ackhook/express': 2000,
  '@ackhook/fastify': 2000,
  '@ackhook/hono': 2000,
  // 4000 before traces followed an event through its inbox.
  '@ackhook/opentelemetry': 4700,
  '@ackhook/client': 4000,
}

/**
 * The same for Node with dependencies, as a bundle has them, where that is more. Peers stay outside: an application has them
 * anyway. Most of core's is iconv-lite, which raw-body needs; bundles for Workers have neither.
 */
const WITH_DEPENDENCIES: Readonly<Record<string, number>> = {
  '@ackhook/core': 200_000,
  '@ackhook/fastify': 3000,
}

const measured = workspacePackages().filter(one => one.manifest.name in BUDGETS)

it.each(measured)('$manifest.name stays within its size', async ({ folder, manifest }) => {
  const entries = Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]) =>
    typeof target === 'object' && !(subpath.slice(2) in BY_INBOXES)
      ? [`${ROOT}packages/${folder}/${target['ackhook-source']}`]
      : [],
  )
  const bytes = await sizeOf(entries)
  process.stdout.write(`${manifest.name}: ${bytes} bytes min+gzip\n`)
  expect(bytes).toBeLessThan(BUDGETS[manifest.name] ?? 0)

  const peers = Object.keys(manifest.peerDependencies ?? {})
  const isPeer = (id: string) => peers.some(peer => id === peer || id.startsWith(`${peer}/`))
  const all = await sizeOf(entries, id => id.startsWith('node:') || isPeer(id))
  process.stdout.write(`${manifest.name}: ${all} bytes min+gzip with dependencies\n`)
  expect(all).toBeLessThan(WITH_DEPENDENCIES[manifest.name] ?? BUDGETS[manifest.name] ?? 0)
})

it.each(Object.entries(BY_INBOXES))(
  'what @ackhook/core/%s adds stays within its size, and an application without such an inbox loads none of it',
  async (name, budget) => {
    const [main, own] = ['spi', name].map(entry => `${ROOT}packages/core/src/${entry}.ts`) as [string, string]
    const bytes = (await sizeOf([main, own])) - (await sizeOf([main]))
    process.stdout.write(`@ackhook/core/${name} adds ${bytes} bytes min+gzip\n`)
    expect(bytes).toBeGreaterThan(1000)
    expect(bytes).toBeLessThan(budget)
  },
)

/** From the sources: chunks that are built already cannot be parted again. */
async function sizeOf(
  entries: readonly string[],
  external: (id: string) => boolean = id => !/^[./#]/.test(id),
): Promise<number> {
  const bundle = await rolldown({
    input: [...entries],
    platform: 'node',
    resolve: { conditionNames: ['ackhook-source', 'node', 'import'] },
    external,
  })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  const code = output.map(one => (one.type === 'chunk' ? one.code : '')).join('\n')
  return gzipSync(code, { level: 9 }).length
}

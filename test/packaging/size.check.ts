import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { expect, it } from 'vitest'
import { ROOT, workspacePackages } from '../support/workspace-packages.ts'

/** Entry points that only some applications load, each with its own limit: durable inboxes, and sealing and erasing. */
const BY_INBOXES: Readonly<Record<string, number>> = {
  sharing: 3000,
  // 4200 before its lines were counted by the minute.
  push: 4500,
  'privacy/index': 3500,
}

/** Their names among the package's exports. */
const OF_THEIR_OWN = Object.keys(BY_INBOXES).map(name => name.replace('/index', ''))

/** Limits in minified and compressed bytes, for all other entry points together, without dependencies. */
const BUDGETS: Readonly<Record<string, number>> = {
  // 24,000 after it was made small, without lru-cache and raw-body; 30,000 with fault reports, logs for operators, the
  // limit on bytes in memory, shutdown and health. Added since: leases that are known to hold, bounds on bodies, requests
  // that cannot be read, advice by error code, receivers of an earlier evaluation, pauses and shared slots, which secret
  // verifies, a report that no delivery arrives, invalid events as dead letters, dead letters by the kind of their error,
  // where an event is, and what can be told of sealed events; 53,500 before the slowest body is given up for others, undos
  // that are kept, one shape for loops, starts that nobody called, shares of a store, lazy answers, printed secrets, literals;
  // 61,500 before the check alone, which a receiver does not load, the engine of attempts, and loggers known by their shape.
  '@ackhook/core': 65_500,
  '@ackhook/express': 600,
  // With the description of its route for API documents, and options meant for other plugins.
  '@ackhook/fastify': 2700,
  '@ackhook/hono': 1000,
  '@ackhook/nestjs': 4000,
  // It was 4700 before its counters began at zero, and its gauges followed the life of the inbox; then came silence, secrets,
  // ingested events and what keeps dead rows; 6200 before pauses, causes of drops and the age of rounds.
  '@ackhook/opentelemetry': 6700,
  '@ackhook/client': 3800,
}

/**
 * Limits for Node bundles with dependencies, if higher. Peers are excluded: an application has them anyway, and so is
 * iconv-lite, which the package leaves out.
 */
const WITH_DEPENDENCIES: Readonly<Record<string, number>> = {
  '@ackhook/core': 77_000,
  '@ackhook/fastify': 3700,
}

const measured = workspacePackages().filter(one => one.manifest.name in BUDGETS)

it.each(measured)('$manifest.name stays within its size', async ({ folder, manifest }) => {
  const entries = Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]) =>
    typeof target === 'object' && !OF_THEIR_OWN.includes(subpath.slice(2))
      ? [`${ROOT}packages/${folder}/${target['ackhook-source']}`]
      : [],
  )
  const bytes = await sizeOf(entries)
  process.stdout.write(`${manifest.name}: ${bytes} bytes min+gzip\n`)
  expect(bytes).toBeLessThan(BUDGETS[manifest.name] ?? 0)

  const peers = Object.keys(manifest.peerDependencies ?? {})
  const isPeer = (id: string) => peers.some(peer => id === peer || id.startsWith(`${peer}/`))
  const all = await sizeOf(entries, id => id.startsWith('node:') || id === 'iconv-lite' || isPeer(id))
  process.stdout.write(`${manifest.name}: ${all} bytes min+gzip with dependencies\n`)
  expect(all).toBeLessThan(WITH_DEPENDENCIES[manifest.name] ?? BUDGETS[manifest.name] ?? 0)
})

it.each(Object.entries(BY_INBOXES))(
  '@ackhook/core/%s stays within its size, and an application without such an inbox does not load it',
  async (name, budget) => {
    const [main, own] = ['spi', name].map(entry => `${ROOT}packages/core/src/${entry}.ts`) as [string, string]
    const bytes = (await sizeOf([main, own])) - (await sizeOf([main]))
    process.stdout.write(`@ackhook/core/${name} adds ${bytes} bytes min+gzip\n`)
    expect(bytes).toBeGreaterThan(1000)
    expect(bytes).toBeLessThan(budget)
  },
)

/** Measures the sources, because built chunks cannot be split again. */
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

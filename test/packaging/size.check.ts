import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { expect, it } from 'vitest'
import { ROOT, workspacePackages } from '../support/workspace-packages.ts'

/** Bytes, minified and compressed, of all entry points together and without dependencies. */
const BUDGETS: Readonly<Record<string, number>> = {
  // The aim is 10,000, and it is missed: 18,422. What less there would be without it: memory inbox 3,120, receiver and
  // registry of handlers 2,060, verification 1,840, worker and retry 1,800, options and their errors 1,720, reply codes
  // and refusals 1,420, node 1,420, envelope and contract 1,270, fetch 540, memory store 450; the rest is exports and
  // what these have in common. Texts are 2,610 of it. Without the inbox, the store, node and fetch it is still 11,390.
  // Since these were measured, 490 came on top for what callers get wrong (bodies, keys, streams, observers), 690 for
  // a scheduler for Workers and a drain that keeps to the retry policy, 290 for leaving no garbage to a full
  // collection, and 110 for logging what a store fails to do.
  '@ackhook/core': 18_600,
  '@ackhook/express': 2000,
  '@ackhook/fastify': 2000,
  '@ackhook/hono': 2000,
  '@ackhook/opentelemetry': 4000,
}

const measured = workspacePackages().filter(one => one.manifest.name in BUDGETS)

it.each(measured)('$manifest.name stays within its size', async ({ folder, manifest }) => {
  const entries = Object.entries(manifest.exports ?? {}).flatMap(([, target]) =>
    typeof target === 'object' ? [`${ROOT}packages/${folder}/${target['default']}`] : [],
  )
  const bytes = await sizeOf(entries)
  process.stdout.write(`${manifest.name}: ${bytes} bytes min+gzip\n`)
  expect(bytes).toBeLessThan(BUDGETS[manifest.name] ?? 0)
})

async function sizeOf(entries: readonly string[]): Promise<number> {
  const bundle = await rolldown({
    input: [...entries],
    platform: 'node',
    external: id => !id.startsWith('.') && !id.startsWith('/') && !id.startsWith('#'),
  })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  const code = output.map(one => (one.type === 'chunk' ? one.code : '')).join('\n')
  return gzipSync(code, { level: 9 }).length
}

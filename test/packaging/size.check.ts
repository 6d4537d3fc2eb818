import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { expect, it } from 'vitest'
import { ROOT, workspacePackages } from '../support/workspace-packages.ts'

/** Bytes, minified and compressed, of all entry points together and without dependencies. */
const BUDGETS: Readonly<Record<string, number>> = {
  // The aim is 10,000. Half of it is text: what a wrong option and a refused request are told about their fix.
  '@ackhook/core': 16_000,
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

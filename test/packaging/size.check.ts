import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { expect, it } from 'vitest'
import { ROOT, workspacePackages } from '../support/workspace-packages.ts'

/** Bytes, minified and compressed, of all entry points together and without dependencies. */
const BUDGETS: Readonly<Record<string, number>> = {
  // The aim is 10,000, and it is missed: 17,262. About 3,000 of that is text that says what is wrong and how to fix
  // it; the rest is code. The last 900 went into speed: alarms that share a timer, and a memory of ids of its own.
  '@ackhook/core': 17_400,
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

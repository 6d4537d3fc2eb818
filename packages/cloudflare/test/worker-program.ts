import { fileURLToPath } from 'node:url'
import { Miniflare, type MiniflareOptions } from 'miniflare'
import { rolldown } from 'rolldown'

/** Earliest compatibility date with the runtime behavior that this package documents. */
const COMPATIBILITY_DATE = '2026-04-01'
const FIXTURES = fileURLToPath(new URL('./fixtures/', import.meta.url))

/** Bundles a Worker of `test/fixtures` from the sources, as Wrangler does. */
export async function bundleWorker(name: string): Promise<string> {
  const bundle = await rolldown({
    input: `${FIXTURES}${name}`,
    platform: 'browser',
    external: /^cloudflare:/,
    resolve: { conditionNames: ['ackhook-source', 'workerd', 'worker', 'browser', 'import'] },
  })
  const { output } = await bundle.generate({ format: 'esm' })
  await bundle.close()
  return output[0].code
}

/** Starts Cloudflare on this machine, with one Worker. */
export function startCloudflare(script: string, options: Partial<MiniflareOptions> = {}): Miniflare {
  return new Miniflare({
    modules: true,
    script,
    compatibilityDate: COMPATIBILITY_DATE,
    host: '127.0.0.1',
    port: 0,
    ...options,
  } as MiniflareOptions)
}

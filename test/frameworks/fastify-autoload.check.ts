import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { webhooks } from '@ackhook/fastify'
import Fastify, { type FastifyPluginAsync } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { load } from './load.ts'

interface AutoloadOptions {
  readonly dir: string
  readonly options: object
}

/** Puts the plugin where an autoloaded file finds it: outside Vite, which cannot transform that file. */
const shared = globalThis as { ackhookWebhooks?: unknown }

const FILES = {
  'whose file exports it': 'export default globalThis.ackhookWebhooks',
  'that a file registers in its own scope':
    'export default async (app, options) => app.register(globalThis.ackhookWebhooks, options)',
}

async function start(source: string, options: object, said: string[] = []) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'ackhook-autoload-')))
  const secret = 'whsec_autoload_0123456789'
  writeFileSync(join(dir, 'webhooks.mjs'), `${source}\nexport const autoConfig = { secret: '${secret}' }\n`)
  shared.ackhookWebhooks = webhooks
  const { default: autoload } = await load<{ default: FastifyPluginAsync<AutoloadOptions> }>(
    '@fastify/autoload',
  )
  const app = Fastify({ logger: { stream: { write: line => void said.push(line) } } })
  onTestFinished(async () => {
    await app.close()
    rmSync(dir, { recursive: true, force: true })
  })
  await app.register(autoload, { dir, options })
  await app.ready()
  return app
}

for (const [where, source] of Object.entries(FILES)) {
  it(`a plugin ${where} ignores options that autoload passes to all plugins, and logs their names`, async () => {
    const said: string[] = []
    const app = await start(source, { database: 'orders', featureFlags: {} }, said)
    expect((await app.inject({ method: 'POST', url: '/webhooks' })).statusCode).toBe(401)
    expect(said.join('')).toContain('every plugin: database, featureFlags')
  })

  it(`a plugin ${where} still refuses a misspelled option`, async () => {
    await expect(start(source, { database: 'orders', tolerence: '1m' })).rejects.toThrow(
      /'tolerence': is not an option; did you mean 'tolerance'/,
    )
  })
}

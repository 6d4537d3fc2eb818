import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

// The child is plain Node and runs the built files.
const built = new URL('../dist/index.js', import.meta.url)
const script = `
  import { createReceiver, toFetchHandler } from '${built}'
  const handle = toFetchHandler(createReceiver({ secret: 'whsec_0123456789abcdef' }))
  await handle(new Request('http://localhost/', { method: 'POST', body: '{}' }))`

it.each([
  ['by default', [], {}],
  ['with --no-warnings', ['--no-warnings'], {}],
  ['with NODE_OPTIONS=--no-warnings', [], { NODE_OPTIONS: '--no-warnings' }],
  ['with NODE_NO_WARNINGS=1', [], { NODE_NO_WARNINGS: '1' }],
])('a refused request is reported on stderr %s, once', (_, flags, env) => {
  const { stderr } = spawnSync(process.execPath, [...flags, '--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 30_000,
    env: { PATH: process.env['PATH'], ...env },
  })
  expect(stderr.match(/AckhookWarning: Webhook refused with 401 signature_missing/g)).toHaveLength(1)
})

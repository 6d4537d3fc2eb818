import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

// The examples run against what is built, as a reader's do.
beforeAll(() => void execFileSync('npx', ['tsc', '-b'], { cwd: root }), 120_000)

it.each(['fastify', 'hono-node', 'hono-workers'])('the example %s keeps what it promises', name => {
  const output = execFileSync(process.execPath, [`${root}examples/${name}/src/demo.mjs`], {
    encoding: 'utf8',
  })
  expect(output.trim()).not.toBe('')
})

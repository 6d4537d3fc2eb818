import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { postgresEngine, redisEngine } from './engines.ts'

const FIXTURE = fileURLToPath(new URL('fixtures/closer.mjs', import.meta.url))

for (const [name, start] of [
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const) {
  test.each(['running', 'gone'])(
    `a process exits by itself after close, with ${name} %s`,
    { timeout: 60_000 },
    async state => {
      const engine = await start()
      try {
        const env = { ...process.env, NODE_OPTIONS: '', ENGINE: JSON.stringify(engine.options) }
        const child = fork(FIXTURE, [], { env, execArgv: [] })
        await once(child, 'message')
        if (state === 'gone') await engine.kill()
        child.send('close')
        const timer = setTimeout(() => child.kill('SIGKILL'), 30_000)
        const [code, signal] = await once(child, 'exit')
        clearTimeout(timer)
        expect({ code, signal }).toEqual({ code: 0, signal: null })
      } finally {
        await engine.stop()
      }
    },
  )
}

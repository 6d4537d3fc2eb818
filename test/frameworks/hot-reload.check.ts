import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { post, SECRET } from './behavior.ts'
import { installCopies } from './install-copies.ts'
import { FOLDER } from './load.ts'
import { startApp } from './start-app.ts'

const PATIENT = { timeout: 30_000 }

it('under next dev, each edit gives the file and its retries to the new code, on one thread', async () => {
  const folder = join(FOLDER, '.nextjs-dev')
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  remove()
  mkdirSync(folder)
  cpSync(join(FOLDER, 'nextjs-dev'), folder, { recursive: true })
  installCopies(join(folder, 'node_modules'), ['core', 'sqlite'])
  const file = join(folder, 'pages/api/webhooks.js')
  const source = readFileSync(file, 'utf8')
  const app = await startApp('.nextjs-dev', '../node_modules/next/dist/bin/next', 'dev')
  onTestFinished(async () => {
    await app.stop()
    remove()
  })
  const url = `${app.origin}/api/webhooks`
  let events = 0
  const send = (id = `evt_${events++}`) => post(url, SECRET, { id })

  expect(await send('evt_retried')).toEqual([202, 'accepted'])
  await expect.poll(() => app.output().match(/run 1 evt_retried/g)?.length ?? 0, PATIENT).toBeGreaterThan(1)
  for (let version = 2; version <= 6; version++) {
    writeFileSync(file, source.replace('VERSION = 1', `VERSION = ${version}`))
    // Next.js evaluates the module at the first request after it has seen the edit.
    await expect
      .poll(async () => {
        await send()
        return app.output()
      }, PATIENT)
      .toContain(`run ${version} `)
  }
  expect(app.output()).toContain('run 2 evt_retried')
  expect(app.output().match(/module_evaluated_again/g)).toHaveLength(5)

  // Once the earlier receivers have drained.
  await expect
    .poll(async () => {
      const id = `evt_last_${events++}`
      await send(id)
      await expect.poll(app.output, PATIENT).toContain(` ${id} `)
      return new RegExp(`run (\\d) ${id} (\\d+)`).exec(app.output())?.slice(1)
    }, PATIENT)
    .toEqual(['6', '1'])
}, 240_000)

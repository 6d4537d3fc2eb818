import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, inject, it, vi } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { ROOT } from '../support/workspace-packages.ts'
import { run } from './run.ts'

// A new user: an empty folder, the packed tarballs, and each page followed to the letter with plain Node.
const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

describe.each(['express', 'fastify', 'hono', 'node-http'])('docs/getting-started/%s.md', page => {
  it('leads from an empty folder to a handled event and a clean end', async () => {
    const text = readFileSync(`${ROOT}docs/getting-started/${page}.md`, 'utf8')
    const project = emptyFolder()
    const port = String(await freePort())
    const wanted = /npm install (.+)/.exec(text)?.[1]?.split(' ') ?? []
    await run('npm', ['install', ...tarballsFor([...wanted, 'ackhook'])], { cwd: project })
    const code = /<!-- run: server -->\n```ts\n(.*?)```/s.exec(text)?.[1] ?? ''
    writeFileSync(join(project, 'server.mjs'), code.replaceAll('3000', port))

    const server = start(project)
    const command = /npx (ackhook send .+)/.exec(text)?.[1]?.replace('3000', port).split(' ') ?? []
    const output = await vi.waitFor(
      () =>
        run('env', ['ACKHOOK_SECRET=only-for-trying-it-out', 'npx', '--no', ...command], { cwd: project }),
      { timeout: 30_000, interval: 200 },
    )
    expect(output).toContain('202')

    server.kill('SIGTERM')
    expect(await once(server, 'exit')).toEqual([0, null])
  })
})

/** The same packages, with ours from the tarballs. All of ours are given: none of them is on a registry yet. */
function tarballsFor(packages: readonly string[]): readonly string[] {
  const ours = inject('tarballs').filter(
    one => packages.includes(one.name) || one.name === '@ackhook/testing',
  )
  const names = ours.map(one => one.name)
  return [...packages.filter(name => !names.includes(name)), ...ours.map(one => one.file)]
}

function start(project: string): ChildProcess {
  const env = { ...process.env, SIGNING_SECRET: 'only-for-trying-it-out' }
  const server = spawn('node', ['server.mjs'], { cwd: project, env, stdio: 'ignore' })
  stops.push(() => server.kill('SIGKILL'))
  return server
}

function emptyFolder(): string {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'ackhook-first-hour-')))
  stops.push(() => rmSync(project, { recursive: true, force: true }))
  writeFileSync(join(project, 'package.json'), '{ "name": "first-hour", "private": true }\n')
  return project
}

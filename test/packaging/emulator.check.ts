import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { type NewUser, newUser } from './new-user.ts'
import { nodePrograms } from './runtime-programs.ts'

/** False on Node 20, which has no built-in SQLite. */
const HAS_SQLITE = process.getBuiltinModule?.('node:sqlite') !== undefined

let user: NewUser
afterEach(() => user.leave())

it('ackhook installs few packages, and none of them has an install script', async () => {
  user = await newUser(inject('registry'))
  await user.run('npm install --no-audit --no-fund ackhook')
  const packages = installedIn(user.folder)
  expect(Object.keys(packages).length).toBeLessThan(30)
  expect(Object.keys(packages).join()).not.toContain('photostructure')
  expect(Object.values(packages).filter(one => one.hasInstallScript)).toEqual([])
})

it('only commands that serve load the server packages', async () => {
  user = await newUser(inject('registry'))
  await user.run('npm install --no-audit --no-fund ackhook')
  await user.run('rm -r node_modules/hono node_modules/@hono node_modules/@ackhook/sqlite')
  expect(await user.run('npx ackhook emulator --help')).toContain('endpoint pause')
  const send = 'SIGNING_SECRET=only-for-trying-it-out npx ackhook send conversation.resolved'
  expect(await user.run(`${send} --to http://localhost:3000/webhooks --dry-run`)).toContain('POST ')
})

describe('from an empty folder, with nothing configured', () => {
  it('runs the platform with nothing else installed, on a Node that has SQLite', async () => {
    user = await newUser(inject('registry'), HAS_SQLITE ? [] : [nodePrograms(22)])
    await playPlatform('npx --yes ackhook')
  })

  it.runIf(!HAS_SQLITE)('names the package to install on Node 20, and runs once that is done', async () => {
    user = await newUser(inject('registry'))
    const refused = await user.run('npx --yes ackhook emulator start 2>&1 || true')
    const fix = /npm install .*/.exec(refused)?.[0] ?? 'the error names no command'
    await user.run(fix)
    await playPlatform('npx ackhook')
  })
})

async function playPlatform(ackhook: string): Promise<void> {
  const port = await freePort()
  // Uses the user's own port, because `start` waits for a server there.
  await user.start(`${ackhook} emulator start --port 3000 --to http://localhost:${port}/webhooks`)
  await user.prints(/^ {2}page +http:\/\/127\.0\.0\.1:\d+$/m)
  expect(user.printed()).toMatch(/export SIGNING_SECRET=whsec_[\w-]{32}\n/)
  const at = 'ACKHOOK_EMULATOR=http://localhost:3000'
  await user.run('curl -fsS http://localhost:3000/_emulator/v1/health')
  expect(await user.run(`${at} ${ackhook} emulator send conversation.resolved || true`)).toContain(
    'ECONNREFUSED',
  )
  await user.prints(/ECONNREFUSED, again at /)
  expect(await user.run(`${at} ${ackhook} emulator list`)).toMatch(/pending +conversation\.resolved/)
}

interface Installed {
  readonly hasInstallScript?: boolean
}

function installedIn(folder: string): Readonly<Record<string, Installed>> {
  const lock = readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8')
  return (JSON.parse(lock) as { packages: Record<string, Installed> }).packages
}

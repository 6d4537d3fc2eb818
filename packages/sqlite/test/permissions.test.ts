import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withFolder } from './start-inbox.ts'

const FILES = ['--allow-fs-read=*', '--allow-fs-write=*']
/** The flag of the oldest line; later ones take it too. */
const MODEL = '--experimental-permission'

/** Starts an inbox, and delivers an event to it. */
const PROGRAM = `import { createReceiver } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { signedRequest } from '@ackhook/testing'
const secret = 'whsec_permissions_0123456789'
const logger = { info() {}, warn() {}, error() {} }
const receiver = createReceiver({ secret, inbox: sqliteInbox(process.argv[1]), logger })
receiver.on('*', () => {})
const event = { id: 'evt_1', type: 'a.b', created_at: '2026-11-22T00:00:00Z', data: {} }
const refusal = await receiver.start().then(() => undefined, ({ code, message }) => ({ code, message }))
const { status } = await receiver.handle(signedRequest(event, { secret }))
await receiver.close({ timeout: '1s' })
console.log(JSON.stringify({ status, ...refusal }))`

/** Returns the program's line, or fails with what it printed. */
function run(flags: readonly string[], path: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const args = [MODEL, ...flags, '--input-type=module', '--eval', PROGRAM, path]
    execFile(process.execPath, args, { cwd: import.meta.dirname }, (error, stdout, stderr) => {
      if (error === null) resolve(JSON.parse(stdout))
      else reject(new Error(`${error.message}\n${stderr}`))
    })
  })
}

const hasModel = process.allowedNodeEnvironmentFlags.has(MODEL)

it.runIf(hasModel)("names the flag if Node's permission model denies its thread", () =>
  withFolder(async folder => {
    const path = join(folder, 'inbox.db')
    expect(await run([...FILES, '--allow-addons'], path)).toEqual({
      status: 503,
      code: 'configuration_invalid',
      message: expect.stringMatching(
        /inbox\.db': .*denies it its thread: add --allow-worker to node's flags/,
      ),
    })
    expect(await run([...FILES, '--allow-addons', '--allow-worker'], path)).toEqual({ status: 202 })
  }),
)

it.runIf(hasModel)('names the flag if its driver may not be loaded', () =>
  withFolder(async folder => {
    // Node's own SQLite needs no addon.
    const result = await run(
      [...FILES, '--allow-worker', '--no-experimental-sqlite'].filter(isKnown),
      join(folder, 'inbox.db'),
    )
    expect(result).toEqual({
      status: 503,
      code: 'configuration_invalid',
      message: expect.stringMatching(/native addon.*add --allow-addons to node's flags/),
    })
  }),
)

function isKnown(flag: string): boolean {
  const [name = flag] = flag.split('=')
  return process.allowedNodeEnvironmentFlags.has(name) || name.startsWith('--allow')
}

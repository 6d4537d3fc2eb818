import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const FOLDER = fileURLToPath(new URL('loggers/', import.meta.url))

/** Returns what the program prints with a logger, on both streams, without colors. */
async function printedWith(logger: string): Promise<string> {
  const env = { PATH: process.env['PATH'], NO_COLOR: '1', FORCE_COLOR: '0' }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['write.mjs', logger], {
    cwd: FOLDER,
    env,
  })
  return stdout + stderr
}

it.each([
  'winston',
  'winston-text',
  'winston-child',
  'logtape',
  'logtape-json',
  'nest',
  'nest-json',
  'nest-pino',
  'nest-pino-logger',
  'backstage',
  'tslog',
  'tslog-json',
  'signale',
  'pino',
  'bunyan',
  'console',
  'wrapped',
])('the log of %s has code, message and stack, word for word', async logger => {
  const printed = await printedWith(logger)
  expect(printed).toContain('Event evt_1 (conversation.resolved) is dead-lettered after attempt 1.')
  expect(printed).toMatch(/Error: no \{seats\} left for 100%d of %s(\n|\\n)\s+at /)
  expect(printed).toContain('drain_begins')
  expect(printed).toMatch(/The drain begins: 0 events wait and \d run\./)
  expect(printed).not.toContain('[object Object]')
})

it('the types of these libraries fit the option as they are', async () => {
  const compiler = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))
  await promisify(execFile)(process.execPath, [compiler, '-p', FOLDER])
})

import { createReceiver } from '@ackhook/core'
import { expect, test } from 'vitest'
import { run } from '../src/run.ts'
import { fakeTerminal } from './fake-terminal.ts'
import { startReceiver } from './receiving-server.ts'
import { SECRET } from './run-cli.ts'

test('an interactive terminal prompts for the secret, and colors mark the result', async () => {
  const receiver = await startReceiver(SECRET)
  const advanced: number[] = []
  const terminal = fakeTerminal({
    secret: SECRET,
    colors: true,
    progress: total => ({ advance: () => void advanced.push(total), stop() {} }),
  })
  const code = await run(['send', 'a.b', '--to', receiver.url, '--repeat', '3'], terminal)
  await receiver.close()
  expect(code).toBe(0)
  expect(terminal.asked).toEqual(["The endpoint's signing secret"])
  expect(terminal.printed[0]).toContain('\u001b[32m✓')
  expect(advanced).toEqual([3, 3, 3])
  expect([...terminal.printed, ...terminal.complained].join()).not.toContain(SECRET)
})

test('a cancelled prompt ends with 2', async () => {
  expect(await run(['send', 'a.b', '--to', 'http://127.0.0.1:1/'], fakeTerminal())).toBe(2)
})

test('Ctrl-C ends a long run gracefully, with the results so far', async () => {
  const receiver = await startReceiver(SECRET)
  const stop = new AbortController()
  const terminal = fakeTerminal({
    env: { SIGNING_SECRET: SECRET },
    stop: stop.signal,
    progress: () => ({ advance: () => stop.abort(), stop() {} }),
  })
  const args = ['send', 'a.b', '--to', receiver.url, '--repeat', '100000', '--rate', '20', '--json']
  expect(await run(args, terminal)).toBe(1)
  await receiver.close()
  const { sent, acknowledged } = JSON.parse(terminal.printed[0] as string)
  expect(sent).toBeGreaterThan(0)
  expect(sent).toBeLessThan(100)
  expect(acknowledged).toBeGreaterThan(0)
})

test('a secret that every receiver refuses is an error at the start', async () => {
  const terminal = fakeTerminal({ env: { SIGNING_SECRET: 'short' } })
  expect(await run(['listen', '--port', '0'], terminal)).toBe(2)
  expect(terminal.complained[0]).toContain('at least 16 bytes')
  expect(() => createReceiver({ secret: 'short' })).toThrow(/at least 16 bytes/)
})

test('errors are JSON with --json', async () => {
  const terminal = fakeTerminal()
  await run(['verify', 'missing.json', '--json'], terminal)
  expect(JSON.parse(terminal.complained[0] as string).error).toContain('missing.json')
})

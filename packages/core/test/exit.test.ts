import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

// The child is plain Node and runs the built files.
const core = new URL('../dist/index.js', import.meta.url)
const testing = new URL('../../testing/dist/index.js', import.meta.url)
const SECRET = 'whsec_0123456789abcdef'

/** Runs a process that accepts events whose handlers never end, and then runs `last`. */
function run(last: string, env: Record<string, string> = {}, options = '{}') {
  const script = `
    import { createReceiver, toFetchHandler } from '${core}'
    import { createEvent, signedRequest } from '${testing}'
    const receiver = createReceiver({ secret: '${SECRET}', ...${options} })
    let begin
    const handling = new Promise(resolve => (begin = resolve))
    receiver.on('conversation.resolved', () => {
      begin()
      return new Promise(() => setTimeout(() => {}, 60_000))
    })
    await receiver.start()
    const handle = toFetchHandler(receiver)
    async function send(id, ...host) {
      const { headers, body } = signedRequest(createEvent('conversation.resolved', { id }), { secret: '${SECRET}' })
      return handle(new Request('http://localhost/', { method: 'POST', headers, body }), ...host)
    }
    ${last}`
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 30_000,
    env: { PATH: process.env['PATH'], ...env },
  })
  return stderr
}

it('a process that exits with events in memory names them', () => {
  const stderr = run("await send('evt_1'); await send('evt_2'); process.exit()")
  expect(stderr).toContain('The process exits with 2 acknowledged events in memory: evt_1, evt_2.')
})

it('a process that exits after close(), or with nothing in memory, logs no loss', () => {
  expect(run("await send('evt_1'); await receiver.close({ timeout: '0s' }); process.exit()")).not.toContain(
    'The process exits',
  )
  expect(run('process.exit()')).toBe('')
})

it('an event that was not acknowledged is not lost with its process', () => {
  const last = "void send('evt_1'); await handling; process.exit()"
  expect(run(last, {}, "{ acknowledge: 'after-processing' }")).toBe('')
})

const FREEZES = /\[host_freezes\].*AWS Lambda may freeze or end this process/g
const lambda = { AWS_LAMBDA_FUNCTION_NAME: 'webhooks' }
const close = "await receiver.close({ timeout: '0s' }); process.exit()"

it('a host that freezes after the reply causes one warning, unless it got waitUntil', () => {
  expect(run(`await send('evt_1'); await send('evt_2'); ${close}`, lambda).match(FREEZES)).toHaveLength(1)
  expect(run(`await send('evt_1', { waitUntil() {} }); ${close}`, lambda)).not.toMatch(FREEZES)
  expect(run(`await send('evt_1'); ${close}`)).not.toMatch(FREEZES)
})

it('a receiver that acknowledges after processing does not warn about a freezing host', () => {
  const last = "void send('evt_1'); await handling; process.exit()"
  expect(run(last, lambda, "{ acknowledge: 'after-processing' }")).toBe('')
})

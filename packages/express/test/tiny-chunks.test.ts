import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import { eventBody, SECRET, signedRequest } from '../../../test/support/receiving.ts'

const MIB = 1_048_576
const root = fileURLToPath(new URL('../../../', import.meta.url))
const children: ChildProcess[] = []

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

interface Report {
  readonly port: number
  readonly status: number
  readonly grownBy: number
}

async function start(): Promise<{ port: number; next(): Promise<Report> }> {
  // Plain Node runs the built files.
  const child = fork(`${root}test/support/tiny-chunks-server.mjs`, ['ackhook'], {
    execArgv: ['--expose-gc'],
    env: { ...process.env, SIGNING_SECRET: SECRET },
  })
  children.push(child)
  const next = async (): Promise<Report> => (await once(child, 'message'))[0] as Report
  const { port } = await next()
  return { port, next }
}

async function send(port: number, body: string): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  const headers = Object.entries(signedRequest(body).headers).map(([name, value]) => `${name}: ${value}`)
  socket.write(
    ['POST / HTTP/1.1', 'Host: localhost', 'Transfer-Encoding: chunked', ...headers, '', ''].join('\r\n'),
  )
  for (let offset = 0; offset < body.length; offset += 8192) {
    const chunks = [...body.slice(offset, offset + 8192)].map(byte => `1\r\n${byte}\r\n`).join('')
    if (!socket.write(chunks)) await once(socket, 'drain')
  }
  socket.write('0\r\n\r\n')
  socket.once('data', () => socket.destroy())
}

it("1 MiB in 1-byte chunks grows the process's memory by less than 20 MB", async () => {
  const { port, next } = await start()
  const padded = (id: string, length: number) => eventBody({ id }).padEnd(length, ' ')
  const warmUp = next()
  await send(port, padded('evt_0', 2000))
  expect(await warmUp).toMatchObject({ status: 202 })
  const measured = next()
  await send(port, padded('evt_1', MIB))
  const { status, grownBy } = await measured
  expect(status).toBe(202)
  expect(grownBy / 1e6).toBeLessThan(20)
}, 120_000)

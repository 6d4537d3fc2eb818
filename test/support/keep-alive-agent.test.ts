import { type Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { keepAliveAgent } from './keep-alive-agent.ts'
import { until } from './until.ts'

const server = createServer((incoming, response) => incoming.resume().on('end', () => response.end('ok')))
// The server announces whole seconds; the agent closes connections a second earlier.
server.keepAliveTimeout = 2000
afterEach(() => server.close())

function send(agent: Agent): Promise<unknown> {
  const { port } = server.address() as AddressInfo
  return new Promise((resolve, reject) => {
    const outgoing = request({ agent, port, host: '127.0.0.1', method: 'POST' }, response =>
      response.resume().on('end', resolve),
    )
    outgoing.on('error', reject).end('{}')
  })
}

test("the fault tests' sender closes an idle connection before the receiver does", async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const agent = keepAliveAgent(1)
  const idle = () => Object.values(agent.freeSockets).flat()
  let closedByServer = false
  server.on('connection', socket =>
    socket.on('timeout', () => {
      closedByServer = true
    }),
  )
  await send(agent)
  await until('the connection is idle', () => idle().length === 1)
  await until('the agent closes the connection', () => idle().length === 0)
  expect(closedByServer).toBe(false)
  await send(agent)
  agent.destroy()
})

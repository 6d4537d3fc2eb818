import { type Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { keepAliveAgent } from './keep-alive-agent.ts'
import { until } from './until.ts'

const server = createServer((incoming, response) => incoming.resume().on('end', () => response.end('ok')))
// Announced in whole seconds, and given up a second before.
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

test('the sender of the fault tests gives an idle connection up before the receiver closes it', async () => {
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
  await until('the connection is given up', () => idle().length === 0)
  expect(closedByServer).toBe(false)
  await send(agent)
  agent.destroy()
})

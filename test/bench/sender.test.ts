import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { eventBody } from '../../bench/lib/event-body.mjs'
import { Sender } from '../../bench/lib/sender.mjs'

const cleanups: (() => void)[] = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})

async function senderTo(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sender = await Sender.open({ port, body: eventBody(300), connections: 4 })
  cleanups.push(() => {
    sender.close()
    server.close()
  })
  return sender
}

it('sends the given number of events, each with its own id and a signature', async () => {
  const ids = new Set<string>()
  const sender = await senderTo((request, response) => {
    let body = ''
    request.on('data', chunk => {
      body += chunk
    })
    request.on('end', () => {
      if (request.headers['x-service-signature'] !== undefined) ids.add(JSON.parse(body).id)
      response.writeHead(204).end()
    })
  })
  await sender.send(50)
  expect(ids.size).toBe(50)
})

it('counts a reply once, with a length, chunked or in pieces', async () => {
  let received = 0
  const sender = await senderTo((request, response) => {
    received++
    request.resume().on('end', () => {
      if (received % 3 === 0) return response.end('{}')
      response.writeHead(202, received % 3 === 1 ? {} : { 'content-length': 4 })
      response.write('{}')
      return setTimeout(() => response.end('{}'), 5)
    })
  })
  const { answered, latencies } = await sender.load(0.2)
  expect(answered).toBe(received)
  expect(latencies).toHaveLength(received)
})

it('ends the measurement at a reply other than 2xx', async () => {
  const sender = await senderTo((request, response) => {
    request.resume().on('end', () => response.writeHead(503).end('full'))
  })
  await expect(sender.load(0.2)).rejects.toThrow('HTTP/1.1 503')
})

it('times arrivals from the moment at which they were due, so that a pause delays all of them', async () => {
  const ids: number[] = []
  const held: (() => void)[] = []
  let isPaused = true
  setTimeout(() => {
    isPaused = false
    for (const reply of held) reply()
  }, 300)
  const sender = await senderTo((request, response) => {
    let body = ''
    request.on('data', chunk => {
      body += chunk
    })
    request.on('end', () => {
      ids.push(Number(JSON.parse(body).id.slice(4)))
      const reply = () => response.writeHead(202).end()
      if (isPaused) held.push(reply)
      else reply()
    })
  })
  const first = Sender.nextNumber()
  const latencies: number[] = []
  await sender.arrive(200, 40, (index: number, ms: number) => {
    latencies[index] = ms
  })
  expect(ids.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 40 }, (_, n) => first + n))
  // The last ones are due in the middle of the pause, and are not sent before its end: four connections are waiting.
  expect(latencies).toHaveLength(40)
  expect(Math.min(...latencies)).toBeGreaterThan(50)
})

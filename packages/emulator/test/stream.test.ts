import { expect, test } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { after, answering, start } from './set-up.ts'

interface Message {
  readonly id: string
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects.
  readonly data: any
}

/** Reads the stream like a page. */
async function watch(url: string, lastId?: string): Promise<Message[] & { stop(): void }> {
  const stopping = new AbortController()
  after(() => stopping.abort())
  const reply = await fetch(`${url}/_emulator/v1/stream`, {
    signal: stopping.signal,
    headers: lastId === undefined ? {} : { 'last-event-id': lastId },
  })
  expect(reply.headers.get('content-type')).toBe('text/event-stream')
  const messages = Object.assign([] as Message[], { stop: () => stopping.abort() })
  void read(reply, messages).catch(() => {})
  await until('the stream is open', () => messages.length > 0)
  return messages
}

async function read(reply: Response, messages: Message[]): Promise<void> {
  let text = ''
  for await (const chunk of reply.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    for (const part of parts.filter(one => one.startsWith('id: '))) {
      const [, id = '', event = '', data = ''] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(part) ?? []
      messages.push({ id, event, data: JSON.parse(data) })
    }
  }
}

const kinds = (messages: readonly Message[]) => messages.map(one => one.event)

test("changes come in batches, and end with each delivery's latest state", async () => {
  const receiver = await answering([500])
  const { emulator, http } = await start({ to: receiver.url })
  const stream = await watch(emulator.url)
  expect(kinds(stream)).toEqual(['open'])
  const { id } = await emulator.api.send('conversation.resolved')
  const states = () =>
    stream
      .filter(one => one.event === 'deliveries')
      .flatMap(one => one.data.deliveries.filter((d: { event: string }) => d.event === id))
  await until('the failure is seen', () => states().at(-1)?.lastStatus === 500)
  await emulator.api.clock.advance('10s')
  await until('the end is seen', () => states().at(-1)?.state === 'acknowledged')
  await http.post('/workspaces/default/endpoint/pause')
  await http.put('/faults', { tamper: 0.5 })
  await http.post('/messages/inbound', { from: '+491', text: 'x' })
  await http.post('/reset')
  await until('the rest is seen', () => kinds(stream).includes('reset'))
  expect(kinds(stream)).toEqual(expect.arrayContaining(['clock', 'endpoint', 'faults', 'message', 'reset']))
})

test('a fault for the next attempts is reported on each countdown', async () => {
  const { emulator, http } = await start({ to: (await answering()).url })
  const stream = await watch(emulator.url)
  await http.put('/faults', { answer: 500, answerNext: 2 })
  await emulator.api.send('call.started')
  await emulator.api.clock.advance('1m')
  const faults = () => stream.filter(one => one.event === 'faults').map(one => one.data)
  await until('all are used up', () => faults().length === 3)
  expect(faults()).toEqual([{ answer: 500, answerNext: 2 }, { answer: 500, answerNext: 1 }, {}])
})

test('health warnings appear and clear', async () => {
  const receiver = await answering(Array(10).fill(500))
  const { emulator } = await start({
    to: receiver.url,
    delivery: { minDelay: '1s', factor: 1, attempts: 100 },
  })
  const stream = await watch(emulator.url)
  await emulator.api.send('call.started')
  await emulator.api.clock.advance('30s')
  await until('a warning', () => stream.some(one => one.event === 'health' && one.data.status === 'warning'))
  await emulator.api.sendAll(Array.from({ length: 20 }, () => ({ type: 'call.started' })))
  await until('it clears', () => stream.some(one => one.event === 'health' && one.data.status === 'healthy'))
})

test('a page that reconnects gets missed changes, or a gap', async () => {
  const receiver = await answering()
  const { emulator } = await start({ to: receiver.url })
  const first = await watch(emulator.url)
  await emulator.api.send('call.started')
  await until('a batch', () => kinds(first).includes('deliveries'))
  const seen = first.at(-1)?.id
  first.stop()
  await emulator.api.faults.set({ tamper: true })
  const second = await watch(emulator.url, seen)
  await until('what was missed', () => kinds(second).includes('faults'))
  expect(kinds(second)).not.toContain('gap')
  for (const unknown of ['abc-1', 'nonsense', `${seen?.split('-')[0]}-99999`]) {
    const third = await watch(emulator.url, unknown)
    await until('a gap', () => kinds(third).includes('gap'))
  }
})

test("a reply's position continues the stream, even if no page was open", async () => {
  const receiver = await answering()
  const { emulator, http } = await start({ to: receiver.url })
  const read = async () => (await http.get('/deliveries')).headers.get('x-emulator-position') ?? ''
  const before = await read()
  await emulator.api.send('call.started')
  const late = await watch(emulator.url, before)
  await until('the gap', () => kinds(late).includes('gap'))
  const inTime = await watch(emulator.url, await read())
  await emulator.api.faults.set({ tamper: true })
  await until('what follows', () => kinds(inTime).includes('faults'))
  expect(kinds(inTime)).not.toContain('gap')
})

test('a slow page gets a gap, so that its queue stays bounded', async () => {
  const receiver = await answering()
  const { emulator } = await start({ to: receiver.url })
  const { request } = await import('node:http')
  const text: string[] = []
  const response = await new Promise<import('node:http').IncomingMessage>(resolve =>
    request(`${emulator.url}/_emulator/v1/stream`, { agent: false }, resolve).end(),
  )
  after(() => response.destroy())
  response.setEncoding('utf8').pause()
  const memory = process.memoryUsage().arrayBuffers
  // Far more than all buffers in between, plus the mebibyte that may be queued.
  for (let i = 0; i < 400; i++) {
    await emulator.api.faults.set({ delay: '1ms', staleBy: '1s', tamper: i / 400 })
    for (let j = 0; j < 20; j++)
      await emulator.api.endpoints.put({
        types: Array(200)
          .fill(0)
          .map((_, n) => `${'t'.repeat(20)}.${n}`),
      })
    if (i % 50 === 0) await new Promise(setImmediate)
  }
  expect(process.memoryUsage().arrayBuffers - memory).toBeLessThan(64 * 1024 * 1024)
  response.on('data', part => text.push(part)).resume()
  await until('the gap', () => text.join('').includes('event: gap'))
})

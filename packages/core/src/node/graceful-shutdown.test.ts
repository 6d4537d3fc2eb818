import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, it, vi } from 'vitest'
import { createReceiver } from '../receiver/create-receiver.ts'
import { inspectReceiver } from '../receiver/inspect.ts'
import { gracefulShutdown } from './graceful-shutdown.ts'

const secret = 'whsec_shutdown_0123456789abc'

function receiverWith(logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }) {
  return Object.assign(createReceiver({ secret, logger }), { logger })
}

it('refuses wrong options, and gives the fix', () => {
  const receiver = receiverWith()
  const server = createServer()
  for (const [options, text] of [
    [{ tiemout: '10s' }, /Option 'tiemout': .*did you mean 'timeout'/],
    [{ timeout: 10 }, /Option 'timeout'/],
    [{ grace: '40s' }, /Option 'grace'/],
    [{ grace: null }, /Option 'grace': is null/],
    [{ signals: ['SIGKILL'] }, /Option 'signals'/],
    ['10s', /such as { grace: '5s', timeout: '25s' }/],
  ] as const)
    expect(() => gracefulShutdown(receiver, server, options as never)).toThrow(text)
  expect(process.listenerCount('SIGTERM')).toBe(0)
})

it.each([
  ['development', 1],
  ['production', 0],
])('listens to SIGUSR2, with which nodemon restarts, in %s: %d', (mode, count) => {
  vi.stubEnv('NODE_ENV', mode)
  const before = new Map(process.eventNames().map(name => [name, process.listeners(name as 'SIGUSR2')]))
  gracefulShutdown(receiverWith())
  const added = process.listeners('SIGUSR2').filter(one => !before.get('SIGUSR2')?.includes(one))
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGUSR2'] as const)
    for (const one of process.listeners(signal))
      if (!before.get(signal)?.includes(one)) process.off(signal, one)
  vi.unstubAllEnvs()
  expect(added).toHaveLength(count)
})

it('refuses an app that is not a server, and a value that is not a receiver', () => {
  const app = Object.assign(() => {}, { listen() {}, use() {} })
  expect(() => gracefulShutdown(receiverWith(), app as never)).toThrow(
    /Option 'server': must be the result of app.listen\(\)/,
  )
  expect(() => gracefulShutdown({} as never, createServer())).toThrow(/Option 'receiver'/)
  expect(() => gracefulShutdown([], createServer())).toThrow(/Option 'receiver': is an empty list/)
})

it('closes a server that never listened, and every receiver', async () => {
  const receivers = [receiverWith(), receiverWith()]
  const closes = receivers.map(one => vi.spyOn(one, 'close'))
  const end = gracefulShutdown(receivers, createServer(), { signals: [], grace: '0s' })
  expect(await end()).toEqual({ lost: 0, cut: 0, connections: 0, failed: [] })
  for (const close of closes) expect(close).toHaveBeenCalledTimes(1)
})

it('runs once, however often it is called', async () => {
  const cleanup = vi.fn()
  const end = gracefulShutdown(receiverWith(), undefined, { signals: [], cleanup })
  expect(await Promise.all([end(), end()])).toHaveLength(2)
  expect(cleanup).toHaveBeenCalledTimes(1)
})

it('reports a cleanup that returns what nobody waits for, and refuses a generator', async () => {
  for (const cleanup of [() => () => {}, () => [Promise.resolve()]]) {
    const end = gracefulShutdown(receiverWith(), undefined, { signals: [], cleanup })
    expect(await end()).toMatchObject({ failed: ['cleanup'] })
  }
  const cleanup = async function* () {}
  expect(() => gracefulShutdown(receiverWith(), undefined, { signals: [], cleanup })).toThrow(
    "'cleanup': must not be a generator",
  )
})

it('reports a cleanup that fails and one that hangs, and continues', async () => {
  for (const cleanup of [
    () => Promise.reject(new Error('no connection')),
    () => {
      throw new Error('no connection')
    },
    () => new Promise(() => {}),
  ]) {
    const receiver = receiverWith()
    const end = gracefulShutdown(receiver, undefined, { signals: [], timeout: '300ms', cleanup })
    expect(await end()).toEqual({ lost: 0, cut: 0, connections: 0, failed: ['cleanup'] })
    expect(receiver.logger.error).toHaveBeenCalledWith(
      expect.objectContaining({ code: 'shutdown_incomplete', failed: ['cleanup'] }),
      expect.stringContaining("'cleanup' did not finish"),
    )
  }
})

it('starts each receiver once the server listens, and not before', async () => {
  const receivers = [receiverWith(), receiverWith()]
  const starts = receivers.map(one => vi.spyOn(inspectReceiver(one).inbox, 'start'))
  const server = createServer()
  const end = gracefulShutdown(receivers, server, { signals: [], grace: '0s' })
  await new Promise(resolve => setTimeout(resolve, 20))
  for (const start of starts) expect(start).not.toHaveBeenCalled()
  server.listen(0)
  await vi.waitFor(() => {
    for (const one of receivers) expect(inspectReceiver(one).state()).toBe('started')
  })
  await end()
})

it.each(['that listens', 'with an app around it that listens', 'left out'])(
  'starts in the next turn with a server %s, so that handlers can still be registered in this one',
  async kind => {
    const receiver = receiverWith()
    const server = createServer().listen(0)
    await once(server, 'listening')
    const app = { server, close: () => new Promise(resolve => server.close(resolve)) }
    const given = kind === 'left out' ? undefined : kind === 'that listens' ? server : app
    const end = gracefulShutdown(receiver, given, { signals: [], grace: '0s' })
    receiver.on('*', () => {})
    await vi.waitFor(() => expect(inspectReceiver(receiver).state()).toBe('started'))
    await end()
    server.close()
  },
)

it('starts nothing after the shutdown, and a start of your own before or after changes nothing', async () => {
  const late = receiverWith()
  const server = createServer()
  await gracefulShutdown(late, server, { signals: [], grace: '0s' })()
  server.listen(0)
  await once(server, 'listening')
  const own = receiverWith()
  const start = vi.spyOn(inspectReceiver(own).inbox, 'start')
  await own.start()
  const end = gracefulShutdown(own, server, { signals: [], grace: '0s' })
  await own.start()
  await new Promise(resolve => setTimeout(resolve, 20))
  await own.start()
  expect(start).toHaveBeenCalledTimes(1)
  expect(inspectReceiver(late).state()).toBe('closed')
  expect(late.logger.error).not.toHaveBeenCalled()
  await end()
})

import { Server } from 'node:http'
import { expect, it, onTestFinished, vi } from 'vitest'
import { listen } from './listen.ts'

it('goes on when connections cannot be accepted later', async () => {
  const listening = vi.spyOn(Server.prototype, 'listen')
  onTestFinished(() => listening.mockRestore())
  const { close } = await listen(() => {}, 0, '127.0.0.1')
  const [server] = listening.mock.contexts as [Server]
  for (let i = 0; i < 2; i++) expect(server.emit('error', new Error('accept EMFILE'))).toBe(true)
  await close()
})

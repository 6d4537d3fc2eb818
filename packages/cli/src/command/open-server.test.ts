import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import { openServer } from './open-server.ts'

it('leaves a server that goes on when connections cannot be accepted later', async () => {
  const server = createServer()
  await openServer(server, '127.0.0.1', 0)
  for (let i = 0; i < 2; i++) expect(server.emit('error', new Error('accept EMFILE'))).toBe(true)
  server.close()
})

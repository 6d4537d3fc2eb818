import { expect, it, vi } from 'vitest'
import { connector } from './connections.ts'

vi.mock('ioredis', () => ({ default: class {}, Redis: undefined }))

it('an ioredis without named exports is a ConfigurationError that says which one to install', async () => {
  await expect(connector('redis://127.0.0.1:1')).rejects.toMatchObject({
    code: 'configuration_invalid',
    option: 'connection',
    message: expect.stringContaining('ioredis 5.3 or later'),
  })
})

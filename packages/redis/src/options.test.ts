import { ConfigurationError } from '@ackhook/core'
import { expect, test } from 'vitest'
import { redisStore } from './index.ts'
import type { RedisClient } from './redis-client.ts'

const never = () => new Promise<never>(() => {})
const client: RedisClient = { evalsha: never, eval: never, call: never }

test.each([
  ['prefix', { prefix: 5 }],
  ['timeout', { timeout: '0s' }],
  ['timeout', { timeout: 1000 }],
  ['timeout', { timeout: 'soon' }],
  ['onStoreError', { onStoreError: 'ignore' }],
  ['replicas', { replicas: -1 }],
  ['replicas', { replicas: '1' }],
  // This client can open no connection of the store's own.
  ['replicas', { replicas: 1 }],
  ['prefx', { prefx: 'a:' }],
  ['prefix', { prefix: null }],
  ['timeout', { timeout: null }],
  ['onStoreError', { onStoreError: null }],
  ['options', null],
])('refuses a wrong %s at construction, by name: %j', (option, options) => {
  expect(() => redisStore(client, options as never)).toThrowError(
    expect.objectContaining({ code: 'configuration_invalid', option }),
  )
})

test.each([[undefined], [null], [{}], ['redis://localhost'], [{ ...client, evalsha: undefined }]])(
  'refuses anything but a client: %j',
  wrong => {
    expect(() => redisStore(wrong as never)).toThrow(ConfigurationError)
  },
)

import { expect, it } from 'vitest'
import { cliPlace } from './cli-place.ts'
import { type BullmqInboxOptions, resolveOptions } from './options.ts'

const placeOf = (options: unknown) => cliPlace(resolveOptions(options as BullmqInboxOptions))

const HOST = { host: 'db', port: 6380, db: 2, password: 'hunter2', username: 'app' }

it.each([
  [{ connection: 'redis://localhost:6379' }, ['--redis', 'redis://localhost:6379']],
  [
    { connection: 'rediss://app:hunter2@db:6380/1?password=hunter2', queue: 'q', prefix: 'p' },
    ['--redis', 'rediss://app:PASSWORD@db:6380/1', '--queue', 'q', '--prefix', 'p'],
  ],
  [{ connection: HOST }, ['--redis', 'redis://app:PASSWORD@db:6380/2']],
  [{ connection: { ...HOST, tls: {} } }, ['--redis', 'rediss://app:PASSWORD@db:6380/2']],
  [{ connection: { url: 'redis://:hunter2@db' } }, ['--redis', 'redis://:PASSWORD@db']],
  [{ connection: { duplicate() {}, options: HOST } }, ['--redis', 'redis://app:PASSWORD@db:6380/2']],
  [
    { postgres: 'postgres://app:hunter2@db/app?sslmode=require&password=hunter2' },
    ['--postgres', 'postgres://app:PASSWORD@db/app?sslmode=require'],
  ],
  [
    { postgres: { host: 'db', user: 'app', password: 'hunter2', database: 'shop', schema: 'jobs' } },
    ['--postgres', 'postgres://app:PASSWORD@db:5432/shop', '--schema', 'jobs'],
  ],
])('returns the flags for %j, without the password', (options, place) => {
  expect(placeOf(options)).toEqual(place)
})

it.each([
  { connection: { path: '/run/redis.sock' } },
  { connection: { sentinels: [{ host: 'a', port: 1 }], name: 'm' } },
  { connection: { isCluster: true, duplicate() {}, options: {} }, prefix: '{a}' },
])('returns no flags for a server without an address: %j', options => {
  expect(placeOf(options)).toBeUndefined()
})

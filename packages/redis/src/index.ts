export type { RedisStoreOptions } from './options.ts'
export type { RedisClient } from './redis-client.ts'
export { redisStore } from './redis-store.ts'

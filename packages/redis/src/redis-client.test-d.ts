import type { Cluster, Redis } from 'ioredis'
import { expectTypeOf } from 'vitest'
import type { RedisClient } from './redis-client.ts'

expectTypeOf<Redis>().toExtend<RedisClient>()
expectTypeOf<Cluster>().toExtend<RedisClient>()
expectTypeOf<{ evalsha: Redis['evalsha'] }>().not.toExtend<RedisClient>()

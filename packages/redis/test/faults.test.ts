import { describe } from 'vitest'
import { redisFaults } from '../../../test/faults/redis/redis-faults.ts'

describe('redisStore under faults, with a part of the load', () => {
  redisFaults(Number(process.env['FAULT_SCALE'] ?? 0.02))
})

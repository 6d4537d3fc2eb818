import { describe } from 'vitest'
import { redisEngine } from './engines.ts'
import { testInboxSuite } from './test-inbox-suite.ts'

describe('bullmqInbox on Redis', () => testInboxSuite('Redis', redisEngine))

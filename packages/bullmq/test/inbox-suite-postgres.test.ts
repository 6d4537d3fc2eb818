import { describe } from 'vitest'
import { postgresEngine } from './engines.ts'
import { testInboxSuite } from './test-inbox-suite.ts'

describe('bullmqInbox on PostgreSQL', () => testInboxSuite('PostgreSQL', postgresEngine))

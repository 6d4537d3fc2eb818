import { describe } from 'vitest'
import { testSqliteInbox } from './test-sqlite-inbox.ts'

describe('sqliteInbox', () => testSqliteInbox())

import { sealedInbox } from '@ackhook/core/privacy'
import { describe } from 'vitest'
import { documentedSeal, KEYS, loadSeal, NOT_OF_BODIES } from '../support/documented-seal.ts'
import { testSqliteInbox } from './test-sqlite-inbox.ts'

const functions = await loadSeal(KEYS.new)

describe('sqliteInbox, sealed', () =>
  testSqliteInbox({
    seal: documentedSeal(),
    wrap: inbox => sealedInbox(inbox, functions),
    long: NOT_OF_BODIES,
  }))

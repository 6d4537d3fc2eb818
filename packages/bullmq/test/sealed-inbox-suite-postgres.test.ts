import { sealedInbox } from '@ackhook/core/privacy'
import { describe } from 'vitest'
import { documentedSeal, KEYS, loadSeal, NOT_OF_BODIES } from '../../../test/support/documented-seal.ts'
import { postgresEngine } from './engines.ts'
import { testInboxSuite } from './test-inbox-suite.ts'

const functions = await loadSeal(KEYS.new)

describe('bullmqInbox on PostgreSQL, sealed', () =>
  testInboxSuite('PostgreSQL', postgresEngine, {
    seal: documentedSeal(),
    wrap: inbox => sealedInbox(inbox, functions),
    long: NOT_OF_BODIES,
  }))

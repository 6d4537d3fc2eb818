import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteInbox } from '@ackhook/sqlite'
import { inboxSuite } from '@ackhook/testing/inbox-suite'
import { describe, it } from 'vitest'

describe('sqliteInbox', () => {
  const open = () => {
    const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
    return {
      createInbox: () => sqliteInbox({ path: join(folder, 'inbox.db'), lease: '5s', poll: '20ms' }),
      close: () => rmSync(folder, { recursive: true }),
    }
  }
  const capabilities = {
    durable: true,
    serialize: true,
    forgets: true,
    browse: true,
    counts: true,
  }
  for (const { id, name, run } of inboxSuite({ open, capabilities })) {
    it(`${id}: ${name}`, { timeout: 60_000 }, run)
  }
})

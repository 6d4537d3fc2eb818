import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteInbox } from '@ackhook/sqlite'
import { inboxCases } from '@ackhook/testing/inbox-suite'
import { describe, it } from 'vitest'

describe('sqliteInbox', () => {
  for (const { id, name, run } of inboxCases({ durable: true, serialize: true, forgets: true })) {
    it(`${id}: ${name}`, { timeout: 60_000 }, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
      const path = join(folder, 'inbox.db')
      const open = () => sqliteInbox({ path, lease: '5s', poll: '20ms' })
      try {
        await run({ open, reopen: open })
      } finally {
        rmSync(folder, { recursive: true })
      }
    })
  }
})

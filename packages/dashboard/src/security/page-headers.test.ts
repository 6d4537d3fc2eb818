import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { PAGE_HEADERS, SLASH_SCRIPT } from './page-headers.ts'

it('allows the script in the page by its hash, and no other', () => {
  const hash = createHash('sha256').update(SLASH_SCRIPT).digest('base64')
  expect(PAGE_HEADERS['content-security-policy']).toContain(`script-src 'self' 'sha256-${hash}';`)
})

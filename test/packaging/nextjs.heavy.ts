import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, inject, it, vi } from 'vitest'
import { allBlocks } from '../docs/blocks.ts'
import { type NewUser, newUser } from './new-user.ts'

const PAGE = 'docs/getting-started/nextjs.md'
const SEND = `export ACKHOOK_SECRET=only-for-trying-it-out
npx ackhook send conversation.resolved --to http://localhost:3000/webhooks`
let user: NewUser
afterEach(() => user.leave())

// The real thing: several hundred megabytes and two builds. `npm run test:nextjs`; its short form is examples/nextjs-route.
it('leads from an empty folder to a Next.js app that handles an event, and one that SIGTERM does not interrupt', async () => {
  user = await newUser(inject('registry'))
  expect(await user.follow(PAGE, 'new-user')).toContain('200 processed')
  await vi.waitFor(() => expect(user.printed()).toMatch(/cnv_\w+ was resolved by ai/))
  await user.end()

  const block = allBlocks().find(one => one.doc === PAGE && one.code.includes('next/server'))
  const slow = block?.code.replace(
    'event => {\n',
    `event => {\n  console.log('begun')\n  await new Promise(resolve => setTimeout(resolve, 2000))\n`,
  )
  writeFileSync(join(user.folder, 'app/webhooks/route.ts'), slow ?? '')
  await user.start('npx next build\nexport SIGNING_SECRET=only-for-trying-it-out\nnpx next start')
  expect(await user.run(SEND)).toContain('202 accepted')
  await vi.waitFor(() => expect(user.printed()).toContain('begun'))
  expect(user.printed()).not.toContain('was resolved by')
  await user.end()
  // npx has ended by now; Next itself goes on until the handler has finished.
  await vi.waitFor(() => expect(user.printed()).toMatch(/cnv_\w+ was resolved by ai/), 10_000)
})

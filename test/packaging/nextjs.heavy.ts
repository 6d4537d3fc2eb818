import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, inject, it } from 'vitest'
import { allBlocks } from '../docs/blocks.ts'
import { type NewUser, newUser } from './new-user.ts'

const PAGE = 'docs/getting-started/nextjs.md'
const SEND = `export SIGNING_SECRET=only-for-trying-it-out
npx ackhook send conversation.resolved --to http://localhost:3000/webhooks`
let user: NewUser
afterEach(() => user.leave())

// Tests a real app: several hundred megabytes and two builds. `npm run test:nextjs`; examples/nextjs-route is the short version.
it('goes from an empty folder to a Next.js app that handles an event, and one that SIGTERM does not interrupt', async () => {
  user = await newUser(inject('registry'))
  expect(await user.follow(PAGE, 'new-user')).toContain('200 processed')
  await user.prints(/cnv_\w+ was resolved by ai/)
  await user.end()

  const block = allBlocks().find(one => one.doc === PAGE && one.code.includes('next/server'))
  const unfinished = block?.code.replace(
    'event => {\n',
    `event => {
  console.log('begun')
  await new Promise<void>(resolve => process.once('SIGTERM', () => setTimeout(resolve, 500)))
`,
  )
  writeFileSync(join(user.folder, 'app/webhooks/route.ts'), unfinished ?? '')
  await user.start('npx next build\nexport SIGNING_SECRET=only-for-trying-it-out\nnpx next start')
  expect(await user.run(SEND)).toContain('202 accepted')
  await user.prints(/begun/)
  await user.end()
  // npx has ended by now; Next itself runs until the handler has finished.
  await user.prints(/cnv_\w+ was resolved by ai/)
})

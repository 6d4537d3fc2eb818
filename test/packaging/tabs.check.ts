import { expect, it } from 'vitest'
import { MANAGERS } from '../../site/.vitepress/code-forms.mjs'
import { followTabs, pagesWithTabs } from './follow-tabs.ts'
import { followMonorepo } from './monorepo.ts'

// Two of the combinations that `npm run test:tabs` follows.
it.each([
  { page: 'getting-started/express.md', manager: 'pnpm', language: 'ts' },
  { page: 'getting-started/hono.md', manager: 'bun', language: 'js' },
])('$page, with $manager in $language, ends with a handled event', followTabs)

// One of those that `npm run test:tabs` follows: the tree in which a package finds only what it lists.
it.each([{ manager: 'pnpm' }])('a monorepo with $manager ends with a handled event', followMonorepo)

it('offers package managers and languages on each quick start', () => {
  expect(MANAGERS).toEqual(['npm', 'pnpm', 'yarn', 'bun'])
  expect(pagesWithTabs()).toEqual(
    ['express', 'fastify', 'hono', 'node-http'].map(name => `getting-started/${name}.md`),
  )
})

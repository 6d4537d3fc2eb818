import { it } from 'vitest'
import { LANGUAGES, MANAGERS } from '../../site/.vitepress/code-forms.mjs'
import { followTabs, pagesWithTabs, type Tabs } from './follow-tabs.ts'
import { followMonorepo } from './monorepo.ts'

const combinations: readonly Tabs[] = pagesWithTabs().flatMap(page => [
  ...MANAGERS.flatMap(manager => LANGUAGES.map(language => ({ page, manager, language }))),
  ...[22, 24].map(node => ({ page, manager: 'npm', language: 'ts', node })),
])

it.each(combinations)('$page with $manager in $language, Node $node, ends with a handled event', followTabs)

it.each(MANAGERS.map(manager => ({ manager })))(
  'a monorepo with $manager ends with a handled event',
  followMonorepo,
)

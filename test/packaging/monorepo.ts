import { expect, inject } from 'vitest'
import { commandsFor } from '../../site/.vitepress/code-forms.mjs'
import type { ReadmeBlock } from '../support/readme-blocks.ts'
import { newUser } from './new-user.ts'
import { runtimePrograms } from './runtime-programs.ts'

const PAGE = 'docs/getting-started/monorepos.md'

/** Follows the page about monorepos with a package manager, from an empty folder to a handled event and a passed test. */
export async function followMonorepo({ manager }: { readonly manager: string }): Promise<void> {
  const form = ({ language, text, flags }: ReadmeBlock): ReadmeBlock => {
    const local =
      manager === 'npm' ? text : text.replace('"@acme/webhooks": "*"', '"@acme/webhooks": "workspace:*"')
    return { language, flags, text: language === 'sh' ? commandsFor(text, { manager }) : local }
  }
  const user = await newUser(inject('registry'), [runtimePrograms()])
  try {
    if (manager === 'pnpm') await user.follow(PAGE, 'monorepo-pnpm')
    const printed = await user.follow(PAGE, 'monorepo', form)
    expect(printed).toMatch(/202 accepted[\s\S]*pass 1\b[\s\S]*fail 0\b/)
    await user.prints(/cnv_\w+ was resolved by ai/)
    expect(await user.end()).toBe(0)
  } finally {
    user.leave()
  }
}

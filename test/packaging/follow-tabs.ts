import { readFileSync } from 'node:fs'
import { expect, inject } from 'vitest'
import { commandsFor, filesWithForms, namesFor } from '../../site/.vitepress/code-forms.mjs'
import type { ReadmeBlock } from '../support/readme-blocks.ts'
import { filesUnder, ROOT } from '../support/workspace-packages.ts'
import { newUser } from './new-user.ts'
import { nodePrograms, runtimePrograms } from './runtime-programs.ts'

/** What a reader has chosen on the site. */
export interface Tabs {
  readonly page: string
  readonly manager: string
  readonly language: string
  /** Line of Node, if not the one that runs the test. */
  readonly node?: number
}

/** Returns the pages that the site shows in JavaScript and TypeScript. */
export function pagesWithTabs(): readonly string[] {
  return filesUnder(`${ROOT}docs/getting-started`)
    .filter(
      page =>
        page.endsWith('.md') &&
        filesWithForms(readFileSync(`${ROOT}docs/getting-started/${page}`, 'utf8')).length > 0,
    )
    .map(page => `getting-started/${page}`)
    .sort()
}

/** Follows a page as the site shows it, from an empty folder to a handled event and a clean exit. */
export async function followTabs({ page, manager, language, node }: Tabs): Promise<void> {
  const path = `docs/${page}`
  const files = filesWithForms(readFileSync(`${ROOT}${path}`, 'utf8'))
  const form = ({ language: written, text, flags }: ReadmeBlock): ReadmeBlock => {
    if (flags['file'] !== undefined)
      return { language: written, text, flags: { ...flags, file: namesFor(flags['file'], language, files) } }
    return { language: written, text: commandsFor(text, { manager, language, files }), flags }
  }
  const user = await newUser(inject('registry'), [
    runtimePrograms(),
    ...(node === undefined ? [] : [nodePrograms(node)]),
  ])
  try {
    expect(await user.follow(path, 'new-user', form)).toMatch(/202 accepted[\s\S]*200 duplicate/)
    await user.prints(/cnv_\w+ was resolved by ai/)
    expect(await user.end()).toBe(0)
  } finally {
    user.leave()
  }
}

import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { addressOf, sidebar } from '../../site/.vitepress/sidebar.mjs'
import { filesUnder, ROOT } from '../support/workspace-packages.ts'

interface Section {
  readonly items: readonly { readonly text: string; readonly link: string }[]
}

const pages = filesUnder(`${ROOT}docs`).filter(
  file => file.endsWith('.md') && !/^(api|packages)\//.test(file),
)

it("has every documentation page once in the site's menu", () => {
  // These pages exist only while the site is built.
  const filesOf = (folder: string) =>
    /^(api|packages)$/.test(folder) ? [] : filesUnder(`${ROOT}docs/${folder}`)
  const sections: readonly Section[] = sidebar((page: string) => page, filesOf)
  const links = sections.flatMap(section => section.items.map(item => item.link))
  expect(links.sort()).toEqual(pages.map(addressOf).sort())
  for (const { text } of sections.flatMap(section => section.items))
    expect([text, existsSync(`${ROOT}docs/${text}`)]).toEqual([text, true])
})

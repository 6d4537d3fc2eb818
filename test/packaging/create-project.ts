import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import type { NewUser } from './new-user.ts'

/** Choices for `npm create ackhook`. */
export interface Wanted {
  readonly framework: string
  readonly inbox: string
  readonly database: string
  readonly language: string
  readonly tests: boolean
  /** Default: npm. */
  readonly manager?: string
}

const FOLDER = 'app'

/** How each manager runs `create-ackhook`. */
const CREATE: Readonly<Record<string, (flags: string) => string>> = {
  npm: flags => `npm create --yes ackhook ${FOLDER} -- ${flags}`,
  pnpm: flags => `pnpm create ackhook ${FOLDER} ${flags}`,
  yarn: flags => `yarn create ackhook ${FOLDER} ${flags}`,
  bun: flags => `bun create ackhook ${FOLDER} ${flags}`,
}

/** Commands that `create-ackhook` printed, without the change of folder. */
export interface NextSteps {
  /** Those to run before the app. */
  readonly before: readonly string[]
  readonly start: string
  readonly send: string
}

/** Creates a project, takes its printed steps up to the start, and runs its own checks. */
export async function createProject(user: NewUser, wanted: Wanted): Promise<NextSteps> {
  const { framework, inbox, database, language, tests, manager = 'npm' } = wanted
  const flags = `--framework ${framework} --inbox ${inbox} --database ${database} --language ${language} --${tests ? '' : 'no-'}tests`
  const printed = await user.run(CREATE[manager]?.(flags) ?? '')
  expect(printed).toContain(`to ${FOLDER}\n`)
  const [, ...steps] = Array.from(
    printed.slice(printed.indexOf('Next:')).matchAll(/^ {2}(.+)$/gm),
    ([, step = '']) => step,
  )
  const [start = '', send = ''] = steps.splice(-2)
  for (const step of steps) await inProject(user, step)
  const passed = database === 'none' ? 2 : 3
  if (tests)
    expect(await inProject(user, `${manager} run test`)).toMatch(new RegExp(`^(?:#|ℹ) pass ${passed}$`, 'm'))
  if (language === 'typescript') await inProject(user, `${manager} run typecheck`)
  return { before: steps, start, send }
}

/** Starts the project, sends an event as it told to, and ends it. */
export async function playProject(user: NewUser, { start, send }: NextSteps, redis?: string): Promise<void> {
  // Replaces port 3000 with this user's port.
  await inProject(user, "sed -i 's/300[0]/3000/' package.json .env")
  if (redis !== undefined) await inProject(user, `sed -i 's#^REDIS_URL=.*#REDIS_URL=${redis}#' .env`)
  await user.start(`cd ${FOLDER}\n${start}`)
  await expectHandled(user, send)
  await user.end()
  // pnpm ends before the app, which still has its grace period.
  await vi.waitFor(() => user.run(CLOSED), { timeout: 60_000, interval: 200 })
}

async function expectHandled(user: NewUser, send: string): Promise<void> {
  expect(await user.run(READY)).toBe('200\n')
  expect(await inProject(user, send)).toContain('202 accepted')
  await user.prints(/cnv_\w+ was resolved by ai/)
}

const CLOSED = `node -e "fetch('http://localhost:3000/').then(() => process.exit(1), () => {})"`
const READY = `node -e "fetch('http://localhost:3000/health/ready').then(reply => console.log(reply.status))"`

function inProject(user: NewUser, command: string): Promise<string> {
  return user.run(`cd ${FOLDER}\n${command}`)
}

/** The line of the project's own secret, with which its `send` signs. */
function secretOf(user: NewUser): string {
  const env = readFileSync(join(user.folder, FOLDER, '.env'), 'utf8')
  return /^SIGNING_SECRET=\S+/m.exec(env)?.[0] ?? ''
}

/**
 * Follows the project's Dockerfile in folders instead of layers, starts what it would start, sends an event, and expects a
 * clean end. What changes the machine is left out: a global installation, a folder at the root.
 */
export async function playImage(user: NewUser, { send }: NextSteps): Promise<void> {
  const place = (name: string) => join(user.folder, `image-${name}`)
  let stage = ''
  let command = ''
  let isProduction = false
  for (const line of readFileSync(join(user.folder, FOLDER, 'Dockerfile'), 'utf8').split('\n')) {
    const [instruction, ...words] = line.split(' ')
    const text = words.join(' ')
    if (instruction === 'FROM') {
      const [base = '', , name = 'last'] = words
      stage = place(name)
      if (base.startsWith('node:')) mkdirSync(stage)
      else cpSync(place(base), stage, { recursive: true })
    } else if (instruction === 'COPY') {
      const [from] = /(?<=--from=)\w+/.exec(text) ?? []
      const paths = words.filter(word => !word.startsWith('--')).map(word => word.replace('/app/', ''))
      const to = join(stage, paths.pop() ?? '')
      const root = from === undefined ? join(user.folder, FOLDER) : place(from)
      for (const path of paths)
        cpSync(join(root, path), paths.length > 1 || path.endsWith('.json') ? join(to, path) : to, {
          recursive: true,
        })
    } else if (instruction === 'RUN' && !/^(npm install --global|mkdir \/)/.test(text)) {
      await user.run(`cd ${stage}\n${isProduction ? 'export NODE_ENV=production\n' : ''}${text}`)
    } else if (instruction === 'CMD') command = (JSON.parse(text) as string[]).join(' ')
    if (line === 'ENV NODE_ENV=production') isProduction = true
  }
  await user.start(`cd ${stage}\nexport NODE_ENV=production ${secretOf(user)}\n${command}`)
  await expectHandled(user, send)
  expect(await user.end()).toBe(0)
}

import { expect } from 'vitest'
import type { NewUser } from './new-user.ts'

/** Choices for `npm create ackhook`. */
export interface Wanted {
  readonly framework: string
  readonly inbox: string
  readonly database: string
  readonly language: string
  readonly tests: boolean
}

const FOLDER = 'app'

/** Creates and installs a project, and runs its own tests. */
export async function createProject(user: NewUser, wanted: Wanted): Promise<void> {
  const { framework, inbox, database, language, tests } = wanted
  const flags = `--framework ${framework} --inbox ${inbox} --database ${database} --language ${language} --${tests ? '' : 'no-'}tests`
  expect(await user.run(`npm create --yes ackhook ${FOLDER} -- ${flags}`)).toContain(`to ${FOLDER}\n`)
  await inProject(user, 'npm install --no-audit --no-fund')
  const passed = database === 'none' ? 2 : 3
  if (tests) expect(await inProject(user, 'npm test')).toMatch(new RegExp(`^(?:#|ℹ) pass ${passed}$`, 'm'))
  // The step of its README.
  if (database !== 'none') expect(await inProject(user, 'npm run schema')).toContain('The tables are there')
}

/** Starts the project, sends an event as in its README, and ends it. */
export async function playProject(user: NewUser, redis?: string): Promise<void> {
  // Replaces port 3000 with this user's port.
  await inProject(user, "sed -i 's/300[0]/3000/' package.json")
  if (redis !== undefined) await inProject(user, `sed -i 's#^REDIS_URL=.*#REDIS_URL=${redis}#' .env`)
  await user.start(`cd ${FOLDER}\nnpm run start`)
  expect(await inProject(user, 'npm run send')).toContain('202 accepted')
  await user.prints(/cnv_\w+ was resolved by ai/)
  await user.end()
}

function inProject(user: NewUser, command: string): Promise<string> {
  return user.run(`cd ${FOLDER}\n${command}`)
}

import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, inject, it } from 'vitest'
import type { Project } from '../agents/project.mjs'
import { runTask } from '../agents/run-task.mjs'
import { TASKS } from '../agents/tasks.mjs'
import { inFull } from '../support/in-full.ts'
import { type NewUser, newUser } from './new-user.ts'

let user: NewUser
afterEach(() => user.leave())

const SCRIPTED = `node "${fileURLToPath(new URL('../agents/scripted.mjs', import.meta.url))}"`

/** Installs packages as they will be published; once a task. */
function install(project: Project, packages: readonly string[]): void {
  const before = join(user.folder, 'done/node_modules')
  if (existsSync(before)) {
    cpSync(before, join(project.folder, 'node_modules'), { recursive: true, verbatimSymlinks: true })
    return
  }
  const { code, output } = project.run(
    `npm install --no-audit --no-fund --prefer-offline --registry ${inject('registry')} ${packages.join(' ')}`,
  )
  if (code !== 0) throw new Error(output)
}

const tasks = inFull(
  TASKS,
  TASKS.filter(({ name }) => name === 'receive'),
)

it.each(tasks)('an agent that does the task $name passes, and one that does nothing fails', async task => {
  user = await newUser(inject('registry'))
  const place = (name: string) => ({ folder: join(user.folder, name), install })
  expect(await runTask(task, { ...place('done'), agent: SCRIPTED })).toBeUndefined()
  expect(await runTask(task, { ...place('idle'), agent: 'exit 0' })).toMatch(/\w/)
})

import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { basename, relative, resolve } from 'node:path'
import { cancel, intro, outro } from '@clack/prompts'
import { ask } from './command/ask.ts'
import { HELP } from './command/help.ts'
import { readArgs } from './command/read-args.ts'
import type { Terminal } from './command/terminal.ts'
import { UsageError } from './command/usage-error.ts'
import type { Choices } from './project/choices.ts'
import { hasDatabase } from './project/database.ts'
import { managerOf } from './project/manager.ts'
import type { Facts } from './project/manifest.ts'
import { projectFiles } from './project/project-files.ts'
import { folderFault, writeProject } from './project/write-project.ts'

/** As long as those that the emulator makes. */
const SECRET_BYTES = 24
const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

/** Writes a project and resolves with the exit code: 0, 1 if the user cancels, 2 for a mistake. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await create(args, terminal)
  } catch (error) {
    if (!isExpected(error)) throw error
    terminal.errors.write(`Error: ${error.message}\n`)
    return 2
  }
}

async function create(given: readonly string[], terminal: Terminal): Promise<number> {
  const { cwd, output, interactive } = terminal
  const args = readArgs(given)
  if (args.shown !== undefined) {
    output.write(args.shown === 'help' ? HELP : `${version}\n`)
    return 0
  }
  if (args.folder !== undefined) requireEmpty(cwd, args.folder)
  const isAsking = interactive && !args.yes
  if (isAsking) intro('An app that receives webhooks', { output })
  const plan = await ask(args, terminal)
  if (plan === undefined) {
    cancel('Nothing was written.', { output })
    return 1
  }
  requireEmpty(cwd, plan.folder)
  const folder = resolve(cwd, plan.folder)
  const facts = factsOf(folder, terminal)
  const files = projectFiles(plan.choices, facts)
  writeProject(folder, files)
  const written = `Wrote ${Object.keys(files).length} files to ${plan.folder}`
  if (isAsking) outro(written, { output })
  else output.write(`${written}\n\n`)
  output.write(nextSteps(relative(cwd, folder), plan.choices, facts))
  return 0
}

function requireEmpty(cwd: string, folder: string): void {
  const fault = folderFault(cwd, folder)
  if (fault !== undefined) throw new UsageError(fault)
}

function factsOf(folder: string, { userAgent }: Terminal): Facts {
  const { features, versions } = process
  return {
    name: basename(folder),
    version,
    node: versions.node,
    sqlite: versions['sqlite'],
    runsTypeScript: 'typescript' in features && Boolean(features.typescript),
    manager: managerOf(userAgent),
    secret: `whsec_${randomBytes(SECRET_BYTES).toString('base64url')}`,
  }
}

function nextSteps(folder: string, choices: Choices, { manager: { name } }: Facts): string {
  const commands = [
    ...(folder === '' ? [] : [`cd ${quoted(folder)}`]),
    `${name} install`,
    ...(hasDatabase(choices) ? [`${name} run schema`] : []),
    `${name} run start`,
  ]
  return `Next:
${commands.map(command => `  ${command}\n`).join('')}
Then, in a second terminal in the same folder, send a signed event:
  ${name} run send
`
}

/** Quotes by itself: `npm create` would download all of core for its quoting. */
function quoted(folder: string): string {
  const path = folder.startsWith('-') ? `./${folder}` : folder
  if (process.platform === 'win32') return /^[\w./\\-]+$/.test(path) ? path : `"${path}"`
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

/** Returns whether an error is a mistake in the command line or a file system error. */
function isExpected(error: unknown): error is Error {
  return error instanceof UsageError || (error instanceof Error && 'syscall' in error)
}

/**
 * Sets a coding agent four tasks with Ackhook and judges by the events that its apps handle:
 * `node test/agents/run.mjs 'claude -p --permission-mode acceptEdits'`. A second argument names one task.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runTask } from './run-task.mjs'
import { TASKS } from './tasks.mjs'

const [agent, only] = process.argv.slice(2)
if (agent === undefined)
  throw new Error("give the agent's command, which reads the prompt from standard input")

const root = fileURLToPath(new URL('../..', import.meta.url))
execFileSync('npm', ['run', 'pack', '--silent'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
const packed = readdirSync(join(root, 'packed'))
const home = realpathSync(mkdtempSync(join(tmpdir(), 'ackhook-agents-')))

for (const task of TASKS.filter(({ name }) => only === undefined || name === only)) {
  const began = Date.now()
  const fault = await runTask(task, { folder: join(home, task.name), agent, install })
  const seconds = Math.round((Date.now() - began) / 1000)
  process.stdout.write(
    `${fault === undefined ? 'done' : 'NOT DONE'}  ${task.name}, ${seconds} s${fault === undefined ? '' : `: ${fault}`}\n`,
  )
  if (fault !== undefined) process.exitCode = 1
}
process.stdout.write(`The projects are in ${home}\n`)

/** Installs our packages from their files, and the others from the registry. */
function install(project, packages) {
  const files = packages.map(name => {
    const file = packed.find(one => one.startsWith(`${name.replace('@', '').replace('/', '-')}-0`))
    return file === undefined ? name : `"${join(root, 'packed', file)}"`
  })
  const { code, output } = project.run(`npm install --no-audit --no-fund ${files.join(' ')}`)
  if (code !== 0) throw new Error(output)
}

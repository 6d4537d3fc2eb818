import { Project } from './project.mjs'

/**
 * Lets an agent do one task in an empty folder, and judges what it left there. Resolves with the reason why the task is not
 * done, or with `undefined`.
 *
 * @param {import('./tasks.mjs').Task} task
 * @param {{ folder: string, agent: string, install: (project: Project, packages: readonly string[]) => void }} how
 *   `agent`: a command of a shell that reads the prompt from standard input and works in the current folder.
 * @returns {Promise<string | undefined>}
 */
export async function runTask({ name, packages, files, prompt, judge }, { folder, agent, install }) {
  const project = new Project(folder)
  project.write({ 'package.json': `{ "name": "${name}", "private": true, "type": "module" }\n`, ...files })
  install(project, packages)
  const { code, output } = project.run(agent, prompt)
  if (code !== 0) return `the agent ended with ${code}:\n${output}`
  try {
    await judge(project)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    await project.kill()
  }
}

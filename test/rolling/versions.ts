import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { buildVersion, type EarlierVersion } from '../support/earlier-version.ts'
import { ROOT } from './rolling-process.ts'

const run = promisify(execFile)
const PACKAGES = ['sqlite', 'bullmq', 'redis', 'sqs', 'testing']
const built = new Map<string, Promise<EarlierVersion>>()

/** Builds the packages of a commit once. */
export function versionOf(commit: string): Promise<EarlierVersion> {
  const known = built.get(commit) ?? buildVersion(commit, PACKAGES)
  built.set(commit, known)
  return known
}

export async function removeVersions(): Promise<void> {
  for (const version of built.values()) (await version.catch(() => undefined))?.remove()
}

/** Returns the commit that last changed the number of a form. `undefined` in a clone without it. */
export async function lastRaised([file, constant]: readonly [string, string]): Promise<string | undefined> {
  const pattern = `${constant} = [0-9]+$`
  const { stdout } = await run('git', ['log', '-1', '--format=%H', '-E', `-G${pattern}`, '--', file], {
    cwd: ROOT,
  })
  const commit = stdout.trim()
  // A shallow clone shows its oldest commit as the one that added every line.
  const { stdout: parents } = commit === '' ? { stdout: '' } : await parentsOf(commit)
  return parents.trim() === '' ? undefined : commit
}

function parentsOf(commit: string): Promise<{ readonly stdout: string }> {
  return run('git', ['log', '-1', '--format=%P', commit], { cwd: ROOT })
}

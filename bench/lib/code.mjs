import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CORE = 'packages/core/src'
/** Parts of core that no measured delivery runs through. */
const NOT_MEASURED = ['advice', 'health'].map(part => `:(exclude)${CORE}/${part}`)
const HTTP = [CORE, ...NOT_MEASURED, 'bench/by-hand', 'bench/servers', 'bench/subjects/http.mjs']
const INBOXES = ['sqlite', 'bullmq', 'redis'].map(name => `packages/${name}/src`)
const NO_TESTS = [':(exclude)*.test.ts', ':(exclude)*.test-d.ts']

const ADAPTERS = {
  express: ['packages/express/src'],
  fastify: ['packages/fastify/src'],
  hono: ['packages/hono/src'],
}
const subjectOf = name => [`bench/subjects/${name}`, `bench/subjects/${name}.mjs`]
/** The code that each subject's figures describe, and the code that measures them, in the order of the report. */
const CODE = {
  verify: [
    ...[`${CORE}/verify`, `${CORE}/events`, `${CORE}/platform`, `${CORE}/http`],
    ...['bench/by-hand/verify.mjs', ...subjectOf('verify')],
  ],
  http: HTTP,
  allocated: [...HTTP, ...Object.values(ADAPTERS).flat(), ...subjectOf('allocated')],
  redis: ['packages/redis/src', ...subjectOf('redis')],
  durable: [CORE, ...NOT_MEASURED, ...INBOXES, ...subjectOf('durable')],
  latency: [CORE, ...NOT_MEASURED, ...INBOXES, ...subjectOf('latency')],
  soak: [CORE, ...NOT_MEASURED, ...INBOXES, ...subjectOf('soak')],
  workers: [CORE, ...NOT_MEASURED, ...INBOXES, ...subjectOf('workers')],
  start: [CORE, 'packages/express/src', 'packages/hono/src', ...subjectOf('start')],
  memory: [`${CORE}/inbox/memory`, ...subjectOf('memory')],
  telemetry: [CORE, ...NOT_MEASURED, 'packages/opentelemetry/src', ...subjectOf('telemetry')],
  sql: ['packages/sql/src', ...subjectOf('sql')],
  sizing: [CORE, ...NOT_MEASURED, ...INBOXES, ...subjectOf('sizing')],
}
export const SUBJECTS = Object.keys(CODE)

/** Ends the commit of figures that were measured with changes that no commit has. */
const UNCOMMITTED = '+'

/** What a run writes: the subjects before it have changed these files. */
const WRITTEN = /bench\/(?:results\.json|RESULTS\.md)$/

/** Returns the commit whose code is measured now. */
export function measuredCommit(changed = git('status', '--porcelain', '--', 'packages', 'bench')) {
  const isChanged = changed.split('\n').some(line => line !== '' && !WRITTEN.test(line))
  return git('rev-parse', '--short=8', 'HEAD') + (isChanged ? UNCOMMITTED : '')
}

/** Returns the paths of the code that a section's figures describe, as Git takes them. */
export function codeOf({ subject, framework }) {
  return [...CODE[subject], ...(ADAPTERS[framework] ?? [])]
}

/**
 * Returns why the figures of a section are older than the code that they describe; `undefined` if they are not.
 *
 * @param {{ subject: string, framework?: string, commit?: string }} section
 * @param {(commit: string, paths: readonly string[]) => string} changedOn date of the last change after a commit, or ''
 */
export function ageOf({ subject, framework, commit }, changedOn = lastChange) {
  if (commit === undefined) return 'the measured commit is unknown'
  if (commit.endsWith(UNCOMMITTED)) return 'measured with uncommitted changes'
  const date = changedOn(commit, codeOf({ subject, framework }))
  return date === '' ? undefined : `its code has changed since, last on ${date}`
}

function lastChange(commit, paths) {
  return git('log', '-1', '--format=%cs', `${commit}..HEAD`, '--', ...paths, ...NO_TESTS)
}

function git(...words) {
  return execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim()
}

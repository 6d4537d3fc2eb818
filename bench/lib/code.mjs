import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CORE = 'packages/core/src'
const INBOXES = [`${CORE}/inbox`, `${CORE}/worker`, `${CORE}/receiver`, `${CORE}/platform`]
const HTTP = [CORE, 'bench/by-hand', 'bench/servers', 'bench/subjects/http.mjs']
const NO_TESTS = [':(exclude)*.test.ts', ':(exclude)*.test-d.ts']

const ADAPTERS = {
  express: ['packages/express/src'],
  fastify: ['packages/fastify/src'],
  hono: ['packages/hono/src'],
}
/** The code that each subject's figures describe, and the code that measures them. */
const CODE = {
  verify: [
    ...[`${CORE}/verify`, `${CORE}/events`, `${CORE}/platform`, `${CORE}/http`],
    ...['bench/by-hand/verify.mjs', 'bench/subjects/verify', 'bench/subjects/verify.mjs'],
  ],
  http: HTTP,
  allocated: [...HTTP, ...Object.values(ADAPTERS).flat(), 'bench/subjects/allocated.mjs'],
  redis: [...INBOXES, 'packages/redis/src', 'bench/subjects/redis.mjs'],
  durable: [CORE, 'packages/sqlite/src', 'packages/bullmq/src', 'bench/subjects/durable'],
  workers: [CORE, 'packages/bullmq/src', 'bench/subjects/workers.mjs'],
  start: [CORE, 'packages/express/src', 'packages/hono/src', 'bench/subjects/start'],
  memory: [...HTTP, 'bench/subjects/memory'],
  flat: [...HTTP, 'bench/subjects/flat.mjs', 'bench/subjects/memory/resident.mjs'],
  scale: [CORE, 'bench/subjects/scale.mjs'],
  forget: ['packages/sqlite/src', 'bench/subjects/forget.mjs'],
  'hot-key': [...INBOXES, 'packages/sqlite/src', 'packages/bullmq/src', 'bench/subjects/hot-key.mjs'],
  growth: [...INBOXES, 'packages/sqlite/src', 'packages/bullmq/src', 'bench/subjects/growth'],
  emulator: ['packages/emulator/src', 'packages/testing/src', 'bench/subjects/emulator'],
}
/** Ends the commit of figures that were measured with changes that no commit has. */
const UNCOMMITTED = '+'

/** Returns the commit whose code is measured now. */
export function measuredCommit() {
  const isChanged = git('status', '--porcelain', '--', 'packages', 'bench') !== ''
  return git('rev-parse', '--short=8', 'HEAD') + (isChanged ? UNCOMMITTED : '')
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
  const date = changedOn(commit, [...CODE[subject], ...(ADAPTERS[framework] ?? [])])
  return date === '' ? undefined : `its code has changed since, last on ${date}`
}

function lastChange(commit, paths) {
  return git('log', '-1', '--format=%cs', `${commit}..HEAD`, '--', ...paths, ...NO_TESTS)
}

function git(...words) {
  return execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim()
}

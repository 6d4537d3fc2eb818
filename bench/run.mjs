/**
 * `npm run bench` measures everything, `npm run bench -- verify http` only those subjects, and
 * `npm run bench -- compare <folder>` compares this checkout with another one, and `npm run bench -- report` marks the
 * figures that have become old. See README.md for the flags.
 * Writes results.json, RESULTS.md and docs/images/http.svg, unless it is `--quick`.
 */
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { SUBJECTS } from './lib/code.mjs'
import { currentMajor, findNode } from './lib/find-node.mjs'
import { FRAMEWORKS } from './lib/frameworks.mjs'

/** Subjects measured only by name. */
const APART = ['soak', 'sql']
/** Subjects that a whole run also measures on other Node versions. */
const OTHER_NODES = { majors: [22, 24], subjects: ['verify', 'http'] }
const FLAGS = {
  quick: { type: 'boolean', default: false },
  preliminary: { type: 'boolean', default: false },
  node: { type: 'string', default: String(currentMajor) },
  frameworks: { type: 'string' },
  inboxes: { type: 'string' },
  bodies: { type: 'string' },
  seconds: { type: 'string' },
  peers: { type: 'boolean', default: true },
}

if (process.argv[2] === 'report') {
  await report()
  process.exit()
}
if (process.argv[2] === 'compare') process.exit(await compareCheckouts(process.argv.slice(3)))

const { subjects, node, frameworks, ...options } = readArguments(process.argv.slice(2))
prepare()
for (const one of plan()) {
  // A failed subject does not lose the results of the others.
  await measure(one).catch(error => {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  })
}
if (!options.quick) await report()
process.exit()

async function report() {
  const { writeReport } = await import('./lib/results.mjs')
  process.stdout.write(`${writeReport()}\n`)
}

function readArguments(words) {
  try {
    const { values, positionals } = parseArgs({
      ...{ args: words, options: FLAGS, allowPositionals: true, allowNegative: true },
    })
    const list = text => text?.split(',')
    const chosen = { frameworks: list(values.frameworks) ?? Object.keys(FRAMEWORKS) }
    const unknown = [
      ...positionals.filter(word => !SUBJECTS.includes(word)),
      ...chosen.frameworks.filter(framework => !(framework in FRAMEWORKS)),
    ]
    if (unknown.length > 0) throw new Error(`Unknown: ${unknown.join(', ')}`)
    return {
      ...{ ...values, ...chosen, subjects: positionals, node: Number(values.node) },
      inboxes: list(values.inboxes),
      bodies: list(values.bodies)?.map(Number),
      seconds: values.seconds && Number(values.seconds),
    }
  } catch (error) {
    const flags = Object.keys(FLAGS).map(flag => `--${flag}`)
    process.stderr.write(
      `${error.message}\nSubjects: ${SUBJECTS.join(', ')}\nFlags (README.md): ${flags.join(' ')}\n`,
    )
    return process.exit(1)
  }
}

/** Runs the comparison, which reads its own arguments and stores no results: its figures are not about a release. */
async function compareCheckouts(words) {
  prepare()
  const at = words.indexOf('--node')
  const [, asked] = at < 0 ? [] : words.splice(at, 2)
  const child = fork(new URL('compare.mjs', import.meta.url), words, {
    execPath: asked?.includes('/') ? asked : findNode(Number(asked ?? currentMajor)),
  })
  const [code] = await once(child, 'exit')
  return code ?? 1
}

/** Returns the subjects to measure, each with its Node version. */
function plan() {
  const others = OTHER_NODES.majors
    .filter(major => major !== node)
    .flatMap(major => OTHER_NODES.subjects.map(subject => ({ subject, node: major })))
  const all = [
    ...SUBJECTS.filter(subject => !APART.includes(subject)).map(subject => ({ subject, node })),
    ...others,
  ]
  return (subjects.length > 0 ? subjects.map(subject => ({ subject, node })) : all).flatMap(partsOf)
}

/** Splits `http` by framework, since each is measured and stored separately. */
function partsOf(one) {
  if (one.subject !== 'http') return { ...one, name: one.subject, options }
  return frameworks.map(framework => ({
    ...one,
    name: `http on ${FRAMEWORKS[framework]}`,
    options: { ...options, framework },
  }))
}

/** Measures a subject in its own process: with a fresh heap, newly compiled code, and the requested Node version. */
async function measure({ subject, name, node, options }) {
  const began = performance.now()
  process.stdout.write(`${name}, Node ${node} …\n`)
  const child = fork(new URL('measure.mjs', import.meta.url), [subject, JSON.stringify(options)], {
    execPath: findNode(node),
    execArgv: ['--expose-gc'],
  })
  const code = await new Promise(resolve => child.once('exit', resolve))
  if (code !== 0) throw new Error(`measuring ${name}, Node ${node}, ended with ${code}`)
  process.stdout.write(
    `\n${name}, Node ${node}, took ${Math.round((performance.now() - began) / 1000)} s\n\n`,
  )
}

/**
 * Installs and builds: figures from an older build would look like any others. The peers have their own package, so that
 * only people who measure install them.
 */
function prepare() {
  const changedAt = file => statSync(new URL(file, import.meta.url), { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (changedAt('node_modules/.package-lock.json') <= changedAt('package-lock.json')) npm('ci', '.')
  npm('run build --silent', '..')
}

function npm(words, folder) {
  execFileSync('npm', words.split(' '), {
    cwd: new URL(`${folder}/`, import.meta.url),
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
}

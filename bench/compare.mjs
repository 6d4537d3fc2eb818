/**
 * The process of `npm run bench -- compare <before> [<after>]`: compares two checkouts' processor time per request. See
 * README.md. Exits with 1 if a cell fails, and with 2 if the measurement itself fails.
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { duet, placement } from './lib/duet.mjs'
import { eventBody } from './lib/event-body.mjs'
import { showBytes, showNumber, showRatio, table } from './lib/table.mjs'

const PACKAGES = { 'node:http': 'core', express: 'express', fastify: 'fastify', hono: 'hono' }
const USAGE =
  'npm run bench -- compare <folder of another checkout> [<folder of this one>] [--frameworks node:http,express,fastify,hono] [--bodies 300,2000] [--seconds 90] [--bound 1.03] [--node 24 or a path]'

const { frameworks, bodies, seconds, bound, folders } = readArguments(parse())
const checkouts = new Map([
  ['before', resolve(folders[0])],
  ['after', resolve(folders[1] ?? fileURLToPath(new URL('..', import.meta.url)))],
])
for (const folder of checkouts.values()) requireBuild(folder)

const cells = []
for (const framework of frameworks) {
  for (const size of bodies)
    cells.push(await measureCell(framework, size).catch(error => fail(error.message)))
}
report()
process.exit(cells.some(({ verdict }) => verdict === 'fails') ? 1 : 0)

async function measureCell(framework, size) {
  const began = performance.now()
  const comparison = await duet([...checkouts.keys()], {
    seconds,
    decides: [['cpuUs', 'after', 'before']],
    serverOf: name => ['checkout', framework, { env: { BENCH_CHECKOUT: checkouts.get(name) } }],
    requestOf: () => ({ body: eventBody(size) }),
  })
  const cpu = comparison.ratioOf('cpuUs', 'after', 'before')
  const verdict = verdictOf(cpu)
  process.stderr.write(
    `${framework}, ${showBytes(size)}: ${showRatio(cpu)}, ${verdict} (${Math.round((performance.now() - began) / 1000)} s)\n`,
  )
  return {
    verdict,
    row: [
      `${framework}, ${showBytes(size)}`,
      `${comparison.middleOf('cpuUs', 'before').toFixed(1)} → ${comparison.middleOf('cpuUs', 'after').toFixed(1)}`,
      cpu.middle.toFixed(3),
      `${cpu.low.toFixed(3)} to ${cpu.high.toFixed(3)}`,
      showRatio(comparison.ratioOf('perSecond', 'after', 'before')),
      ['before', 'after'].map(name => Math.round(comparison.middleOf('rss', name) / 1e6)).join(' → '),
      showNumber(comparison.ratioOf('rss', 'after', 'before').middle),
      verdict,
    ],
  }
}

/** A change fails only if it certainly exceeds the bound, however wide the interval is. */
function verdictOf({ low, isNarrow }) {
  if (low > bound) return 'fails'
  return isNarrow ? 'holds' : 'undecided'
}

function report() {
  const head = [
    '',
    'CPU µs per request',
    'after ÷ before',
    '95 % interval',
    'requests/s after ÷ before',
    'RSS MB',
    'RSS after ÷ before',
    '',
  ]
  const lines = [
    ...[...checkouts].map(([name, folder]) => `${name}: ${folder}`),
    `Node ${process.versions.node}. ${placement}`,
    '',
    table(
      head,
      cells.map(({ row }) => row),
    ),
    '',
    `A cell fails if the whole interval is above ${bound}, and is undecided if the interval is wider than ±5 %.`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        frameworks: { type: 'string', default: Object.keys(PACKAGES).join() },
        bodies: { type: 'string', default: '300,2000' },
        seconds: { type: 'string', default: '90' },
        bound: { type: 'string', default: '1.03' },
      },
    })
  } catch (error) {
    return fail(`${error.message}\nUsage: ${USAGE}`)
  }
}

function readArguments({ values, positionals }) {
  const frameworks = values.frameworks.split(',')
  const numbers = [...values.bodies.split(','), values.seconds, values.bound].map(Number)
  const isUsable =
    [1, 2].includes(positionals.length) &&
    frameworks.every(one => one in PACKAGES) &&
    numbers.every(one => one > 0)
  if (!isUsable) fail(`Usage: ${USAGE}`)
  return {
    frameworks,
    bodies: values.bodies.split(',').map(Number),
    seconds: Number(values.seconds),
    bound: Number(values.bound),
    folders: positionals,
  }
}

function requireBuild(folder) {
  if (!existsSync(join(folder, 'node_modules/@ackhook/core'))) {
    fail(`${folder} has no installed Ackhook packages. Run there: npm ci && npm run build`)
  }
  const missing = frameworks
    .map(one => PACKAGES[one])
    .filter(one => !existsSync(join(folder, 'packages', one, 'dist/index.js')))
  if (missing.length > 0) fail(`${folder} is not built (${missing.join(', ')}). Run there: npm run build`)
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}

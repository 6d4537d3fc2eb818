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
import { FRAMEWORKS } from './lib/frameworks.mjs'
import { showBytes, showNumber, showRatio, table } from './lib/table.mjs'

const FLAGS = {
  frameworks: { type: 'string', default: Object.keys(FRAMEWORKS).join() },
  bodies: { type: 'string', default: '300,2000' },
  seconds: { type: 'string', default: '90' },
  bound: { type: 'string', default: '1.03' },
}
const HERE = fileURLToPath(new URL('..', import.meta.url))
const HEAD = ['', 'CPU µs per request', 'after ÷ before', 'RSS after ÷ before', '']

try {
  process.exit(await compare(parseArgs({ allowPositionals: true, options: FLAGS })))
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exit(2)
}

async function compare({ values, positionals: [before, after = HERE] }) {
  if (before === undefined) throw new Error('compare needs the folder of another checkout')
  const checkouts = { before: resolve(before), after: resolve(after) }
  for (const folder of Object.values(checkouts)) requireBuild(folder)
  const bound = Number(values.bound)
  const cells = []
  for (const framework of values.frameworks.split(',')) {
    for (const size of values.bodies.split(',').map(Number))
      cells.push(await measureCell(checkouts, { framework, size, bound, seconds: Number(values.seconds) }))
  }
  const rows = cells.map(({ row }) => row)
  const lines = [
    ...Object.entries(checkouts).map(([name, folder]) => `${name}: ${folder}`),
    `Node ${process.versions.node}. ${placement}\n\n${table(HEAD, rows)}\n`,
    `A cell fails if the whole interval is above ${bound}, and is undecided if the interval is wider than ±5 %.`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
  return cells.some(({ verdict }) => verdict === 'fails') ? 1 : 0
}

/** Starts each checkout's own servers, with the packages and the frameworks that are installed there. */
async function measureCell(checkouts, { framework, size, bound, seconds }) {
  const found = await duet(Object.keys(checkouts), {
    seconds,
    decides: [['cpuUs', 'after', 'before']],
    serverOf: name => [
      ...[framework.replace(':', '-'), 'ackhook'],
      { bench: join(checkouts[name], 'bench') },
    ],
    requestOf: () => ({ body: eventBody(size) }),
  })
  const cpu = found.ratioOf('cpuUs', 'after', 'before')
  const verdict = cpu.low > bound ? 'fails' : cpu.isNarrow ? 'holds' : 'undecided'
  const times = Object.keys(checkouts).map(name => found.middleOf('cpuUs', name).toFixed(1))
  const rss = showNumber(found.ratioOf('rss', 'after', 'before').middle)
  const name = `${framework}, ${showBytes(size)}`
  process.stderr.write(`${name}: ${showRatio(cpu)}, ${verdict}\n`)
  return { verdict, row: [name, times.join(' → '), showRatio(cpu), rss, verdict] }
}

function requireBuild(folder) {
  if (!existsSync(join(folder, 'packages/core/dist/index.js')))
    throw new Error(`${folder} is not built. Run there: npm ci && npm run build`)
}

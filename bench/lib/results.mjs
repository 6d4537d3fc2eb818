import { readFileSync, writeFileSync } from 'node:fs'
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os'

const FILE = new URL('../RESULTS.md', import.meta.url)
const MARK = /<!-- (\w+) -->\n[\s\S]*?<!-- \/\1 -->/g

/** Writes the sections that were measured and keeps the others as they are. */
export function writeResults(sections, { quick, preliminary }) {
  const kept = new Map()
  try {
    for (const [section, name] of readFileSync(FILE, 'utf8').matchAll(MARK)) kept.set(name, section)
  } catch {}
  for (const [name, markdown] of Object.entries(sections)) {
    const note = `_${describeRun({ quick, preliminary })}_`
    const [title, ...rest] = markdown.split('\n\n')
    kept.set(name, `<!-- ${name} -->\n${[title, note, ...rest].join('\n\n')}\n<!-- /${name} -->`)
  }
  const order = ['verify', 'http', 'redis', 'durable', 'memory', 'scale'].filter(name => kept.has(name))
  const head = `# Results

Written by \`npm run bench\`. Contenders take turns, and a ratio is the median of the ratios of each round with the
lowest and the highest in brackets; absolute figures only show the order of magnitude on the machine named.

${versions()}
`
  writeFileSync(FILE, `${head}\n${order.map(name => kept.get(name)).join('\n\n')}\n`)
}

function describeRun({ quick, preliminary }) {
  const date = new Date().toISOString().slice(0, 10)
  const machine = `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? arch()}, ${Math.round(totalmem() / 2 ** 30)} GB, ${platform()} ${release()}`
  const how = [quick && 'quick run', preliminary && 'preliminary: on a machine that was busy with other work']
  return [date, `Node ${process.versions.node}`, machine, ...how.filter(Boolean)].join('; ')
}

function versions() {
  const ours = [
    'autocannon',
    'stripe',
    'svix',
    'standardwebhooks',
    '@octokit/webhooks',
    '@octokit/webhooks-methods',
    '@slack/bolt',
    '@hookflo/tern',
    'fastify-raw-body',
  ]
  const shared = [
    'express',
    'fastify',
    'hono',
    '@hono/node-server',
    'ioredis',
    'bullmq',
    '@photostructure/sqlite',
    'lru-cache',
  ]
  const read = (folder, name) => {
    const { version } = JSON.parse(
      readFileSync(new URL(`${folder}/node_modules/${name}/package.json`, import.meta.url), 'utf8'),
    )
    return `${name} ${version}`
  }
  return `Versions: ${[...ours.map(name => read('..', name)), ...shared.map(name => read('../..', name))].join(', ')}.`
}

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os'
import { targetsTable } from '../targets.mjs'
import { drawHttpChart } from './chart.mjs'
import { currentMajor } from './find-node.mjs'
import { installedVersions } from './versions.mjs'

const DATA = new URL('../results.json', import.meta.url)
const REPORT = new URL('../RESULTS.md', import.meta.url)
const IMAGES = new URL('../../docs/images/', import.meta.url)

const ORDER = [
  'verify',
  'http',
  'age',
  'redis',
  'durable',
  'workers',
  'start',
  'memory',
  'flat',
  'scale',
  'forget',
  'growth',
  'hot-key',
  'emulator',
]
/** Kept once for each version of Node; of the others the last run counts. */
const PER_NODE = ['verify', 'http', 'age']

/** Keeps what was measured and leaves the other sections as they are. */
export function keepSection(subject, { markdown, figures, chart }, { preliminary }) {
  const name = PER_NODE.includes(subject) ? `${subject}@${currentMajor}` : subject
  const section = {
    subject,
    node: currentMajor,
    run: describeRun(preliminary),
    markdown,
    figures,
    chart,
  }
  const sections = { ...readSections(), [name]: section }
  writeFileSync(DATA, `${JSON.stringify({ versions: installedVersions(), sections }, null, 1)}\n`)
}

/** Writes RESULTS.md and the chart from all that is kept. Answers the table of targets. */
export function writeReport() {
  const sections = Object.values(readSections()).sort(
    (a, b) => ORDER.indexOf(a.subject) - ORDER.indexOf(b.subject) || a.node - b.node,
  )
  const targets = targetsTable(sections)
  const report = [
    '# Results',
    'Written by `npm run bench`; [README.md](README.md) says how. Figures in brackets are 95 % intervals, and "undecided" stands before those that are wider than ±5 %. Absolute figures only show the order of magnitude on the machine named.',
    `Versions: ${installedVersions().join(', ')}.`,
    targets,
    ...sections.map(showSection),
  ]
  writeFileSync(REPORT, `${report.join('\n\n')}\n`)
  const chart = sections.find(section => section.chart !== undefined)?.chart
  if (chart !== undefined) {
    mkdirSync(IMAGES, { recursive: true })
    writeFileSync(new URL('http.svg', IMAGES), drawHttpChart(chart))
  }
  return targets
}

function readSections() {
  return existsSync(DATA) ? JSON.parse(readFileSync(DATA, 'utf8')).sections : {}
}

function showSection({ subject, node, run, markdown }) {
  const [title, ...rest] = markdown.split('\n\n')
  const named = PER_NODE.includes(subject) ? `${title}, Node ${node}` : title
  return [named, `_${run}_`, ...rest].join('\n\n')
}

function describeRun(preliminary) {
  const date = new Date().toISOString().slice(0, 10)
  const machine = `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? arch()}, ${Math.round(totalmem() / 2 ** 30)} GB, ${platform()} ${release()}`
  const busy = preliminary ? ['preliminary: on a machine that was busy with other work'] : []
  return [date, `Node ${process.versions.node}`, machine, ...busy].join('; ')
}

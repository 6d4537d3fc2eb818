import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os'
import { targetsTable } from '../targets.mjs'
import { drawHttpChart } from './chart.mjs'
import { currentMajor } from './find-node.mjs'
import { FRAMEWORKS } from './frameworks.mjs'
import { installedVersions } from './versions.mjs'

const DATA = new URL('../results.json', import.meta.url)
const REPORT = new URL('../RESULTS.md', import.meta.url)
const IMAGES = new URL('../../docs/images/', import.meta.url)

const ORDER = [
  'verify',
  'http',
  'allocated',
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
/** Subjects kept once for each Node version; for the others, only the last run is kept. */
const PER_NODE = ['verify', 'http']
/** The frameworks of `http`, in order. */
const PARTS = Object.keys(FRAMEWORKS)

/** Stores a measured section and leaves the others unchanged. `http` has one for each framework. */
export function keepSection(subject, { about, markdown, figures, chart }, { framework, preliminary }) {
  const name = [subject, PER_NODE.includes(subject) ? currentMajor : [], framework ?? []].flat().join('@')
  const section = {
    subject,
    node: currentMajor,
    framework,
    run: describeRun(preliminary),
    about,
    markdown,
    figures,
    chart,
  }
  const sections = { ...readSections(), [name]: section }
  writeFileSync(DATA, `${JSON.stringify({ versions: installedVersions(), sections }, null, 1)}\n`)
}

/** Writes RESULTS.md and the chart from all stored sections. Returns the table of targets. */
export function writeReport() {
  const sections = Object.values(readSections()).sort(
    (a, b) =>
      ORDER.indexOf(a.subject) - ORDER.indexOf(b.subject) ||
      a.node - b.node ||
      PARTS.indexOf(a.framework) - PARTS.indexOf(b.framework),
  )
  const targets = targetsTable(sections)
  const report = [
    '# Results',
    'Written by `npm run bench`; [README.md](README.md) says how. Figures in brackets are 95 % intervals; those wider than ±5 % are marked "undecided". Absolute figures only show the order of magnitude on the named machine.',
    `Versions: ${installedVersions().join(', ')}.`,
    targets,
    ...sections.map((section, i) => showSection(section, sections[i - 1])),
  ]
  writeFileSync(REPORT, `${report.join('\n\n')}\n`)
  const charted = sections.filter(({ chart }) => chart !== undefined)
  if (charted.length > 0) {
    const groups = charted.filter(({ node }) => node === charted[0].node).map(({ chart }) => chart)
    mkdirSync(IMAGES, { recursive: true })
    writeFileSync(new URL('http.svg', IMAGES), drawHttpChart(groups))
  }
  return targets
}

function readSections() {
  return existsSync(DATA) ? JSON.parse(readFileSync(DATA, 'utf8')).sections : {}
}

/** Renders a section. The introduction that a subject's parts share comes before the first part. */
function showSection({ subject, node, run, about, markdown }, before) {
  const isFirst = before?.subject !== subject || before.node !== node
  const [title, ...rest] = markdown.split('\n\n')
  const head = about === undefined ? [withNode(title)] : [...(isFirst ? [withNode(about)] : []), title]
  return [...head, `_${run}_`, ...rest].join('\n\n')

  /** Adds the Node version to the first line, which is the subject's title. */
  function withNode(text) {
    return PER_NODE.includes(subject) ? text.replace(/$/m, `, Node ${node}`) : text
  }
}

function describeRun(preliminary) {
  const date = new Date().toISOString().slice(0, 10)
  const machine = `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? arch()}, ${Math.round(totalmem() / 2 ** 30)} GB, ${platform()} ${release()}`
  const busy = preliminary ? ['preliminary: on a machine that was busy with other work'] : []
  return [date, `Node ${process.versions.node}`, machine, ...busy].join('; ')
}

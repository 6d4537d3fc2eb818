import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os'
import { targetsTable } from '../targets.mjs'
import { drawHttpChart } from './chart.mjs'
import { ageOf, SUBJECTS } from './code.mjs'
import { currentMajor } from './find-node.mjs'
import { FRAMEWORKS } from './frameworks.mjs'
import { installedVersions } from './versions.mjs'

const DATA = new URL('../results.json', import.meta.url)
const REPORT = new URL('../RESULTS.md', import.meta.url)
const IMAGES = new URL('../../docs/images/', import.meta.url)

/** Subjects kept once for each Node version; for the others, only the last run is kept. */
const PER_NODE = ['verify', 'http']
/** The frameworks of `http`, in order. */
const PARTS = Object.keys(FRAMEWORKS)

/** Stores a section measured at a commit, and leaves the others unchanged. `http` has one for each framework. */
export function keepSection(
  subject,
  { about, markdown, figures, chart },
  { framework, preliminary, commit },
) {
  const name = [subject, PER_NODE.includes(subject) ? currentMajor : [], framework ?? []].flat().join('@')
  const section = {
    subject,
    node: currentMajor,
    framework,
    commit,
    run: describeRun(preliminary),
    about,
    markdown,
    figures,
    chart,
  }
  const sections = { ...readResults().sections, [name]: section }
  writeFileSync(DATA, `${JSON.stringify({ versions: installedVersions(), sections }, null, 1)}\n`)
}

/**
 * Writes RESULTS.md from all stored sections, and the chart from those that describe the present code. Returns the table
 * of targets.
 */
export function writeReport() {
  const { versions, sections: stored } = readResults()
  const sections = Object.values(stored)
    .filter(({ subject }) => SUBJECTS.includes(subject))
    .map(section => ({ ...section, age: ageOf(section) }))
    .sort(
      (a, b) =>
        SUBJECTS.indexOf(a.subject) - SUBJECTS.indexOf(b.subject) ||
        a.node - b.node ||
        PARTS.indexOf(a.framework) - PARTS.indexOf(b.framework),
    )
  const targets = targetsTable(sections)
  const report = [
    '# Results',
    'Written by `npm run bench`; [README.md](README.md) says how. Figures in brackets are 95 % intervals; those wider than ±5 % are marked "undecided". Each section names its date and commit; "to be measured again" marks figures that are older than the last change of the code they describe. Absolute figures only show the order of magnitude on the named machine.',
    `Versions: ${versions.join(', ')}.`,
    targets,
    ...sections.map((section, i) => showSection(section, sections[i - 1])),
  ]
  writeFileSync(REPORT, `${report.join('\n\n')}\n`)
  const charted = sections.filter(({ chart, age }) => chart !== undefined && age === undefined)
  const groups = charted.filter(({ node }) => node === charted[0].node).map(({ chart }) => chart)
  mkdirSync(IMAGES, { recursive: true })
  writeFileSync(new URL('http.svg', IMAGES), drawHttpChart(groups))
  return targets
}

function readResults() {
  return existsSync(DATA) ? JSON.parse(readFileSync(DATA, 'utf8')) : { versions: [], sections: {} }
}

/** Renders a section. The introduction that a subject's parts share comes before the first part. */
function showSection({ subject, node, run, commit, age, about, markdown }, before) {
  const isFirst = before?.subject !== subject || before.node !== node
  const [title, ...rest] = markdown.split('\n\n')
  const head = about === undefined ? [withNode(title)] : [...(isFirst ? [withNode(about)] : []), title]
  const old = age === undefined ? [] : [`**To be measured again: ${age}.**`]
  return [...head, `_${run}; commit ${commit}_`, ...old, ...rest].join('\n\n')

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

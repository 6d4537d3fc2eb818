import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { eventBody } from './lib/event-body.mjs'
import { findNode } from './lib/find-node.mjs'
import { startServer } from './lib/server.mjs'
import { table } from './lib/table.mjs'

const FOLDER = fileURLToPath(new URL('profiles/', import.meta.url))
const FRAMEWORKS = ['node-http', 'express', 'fastify', 'hono']
const WARM_UP_S = 2
const SECONDS = 4
const TOP = 25
const KINDS = {
  cpu: { ending: '.cpuprofile', title: 'processor time', unit: 'µs a call', read: selfTimes },
  heap: { ending: '.heapprofile', title: 'bytes allocated', unit: 'bytes a call', read: selfSizes },
}

/**
 * `profile http [framework …]` and `profile verify` show where time and memory go, for Ackhook and the hand-written
 * receiver, as a table of functions and a table of their packages. The profiles themselves are kept in profiles/.
 */
export async function profile([subject = 'http', ...frameworks], node) {
  mkdirSync(FOLDER, { recursive: true })
  if (subject === 'verify') return profileVerify(node)
  for (const framework of frameworks.length > 0 ? frameworks : FRAMEWORKS) {
    for (const variant of ['hand-written', 'ackhook']) {
      await profileServer({ framework, variant, node })
    }
  }
}

/** Profiles the load only, without the start and the time until the code is compiled. */
async function profileServer({ framework, variant, node }) {
  const { Sender } = await import('./lib/sender.mjs')
  const server = await startServer(framework, variant, { execPath: findNode(node) })
  const sender = await Sender.open({ port: server.port, body: eventBody(2000) })
  const run = seconds => sender.load(seconds, [])
  await run(WARM_UP_S)
  for (const kind of Object.keys(KINDS)) {
    await server.ask(`profile ${kind}`)
    const { answered } = await run(SECONDS)
    const profile = await server.ask('profiled')
    report({
      kind,
      profile,
      count: answered,
      name: ['http', framework, variant, `node${node}`],
      calls: 'requests',
    })
  }
  sender.close()
  await server.stop()
}

async function profileVerify(node) {
  for (const who of ['idiomatic, hand-written', 'ackhook']) {
    const child = fork(new URL('profile-verify.mjs', import.meta.url), [who], { execPath: findNode(node) })
    const gone = once(child, 'exit')
    for (const kind of Object.keys(KINDS)) {
      const [{ profile, count }] = await once(child, 'message')
      report({ kind, profile, count, name: ['verify', who, `node${node}`], calls: 'calls' })
    }
    await gone
  }
}

function report({ kind, profile, count, name, calls }) {
  const { ending, title, unit, read } = KINDS[kind]
  const entries = read(profile)
  const show = { count, unit }
  const functionOf = ({ functionName, ...frame }) => `\`${functionName || '(anonymous)'}\` ${placeOf(frame)}`
  const markdown = [
    `## ${name.join(', ')}: ${title}, ${count.toLocaleString('en-GB')} ${calls}`,
    rank(entries, one => ownerOf(one.frame), { ...show, head: 'belongs to' }),
    rank(entries, one => functionOf(one.frame), { ...show, head: 'function' }),
  ].join('\n\n')
  const file = `${FOLDER}${name.join('-').replaceAll(' ', '-')}`
  writeFileSync(`${file}${ending}`, JSON.stringify(profile))
  writeFileSync(`${file}-${kind}.md`, `${markdown}\n`)
  process.stdout.write(`${markdown}\n\n`)
}

/** @param {{ frame: any, self: number }[]} entries */
function rank(entries, keyOf, { count, unit, head }) {
  const sums = new Map()
  for (const one of entries) sums.set(keyOf(one), (sums.get(keyOf(one)) ?? 0) + one.self)
  const total = entries.reduce((sum, { self }) => sum + self, 0)
  const rows = [...sums]
    .filter(([, self]) => self > 0)
    .sort(([, a], [, b]) => b - a)
    .slice(0, TOP)
    .map(([key, self]) => [key, `${((self / total) * 100).toFixed(1)} %`, (self / count).toFixed(2)])
  return table([head, 'self', unit], rows)
}

function selfTimes({ nodes, samples, timeDeltas }) {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  return samples
    .map((id, i) => ({ frame: frames.get(id), self: timeDeltas[i] }))
    .filter(({ frame }) => frame.functionName !== '(idle)')
}

function selfSizes({ head }) {
  const found = []
  const visit = ({ callFrame, selfSize, children }) => {
    found.push({ frame: callFrame, self: selfSize })
    for (const child of children) visit(child)
  }
  visit(head)
  return found
}

/** Returns the package or the part of Node that a function belongs to. */
function ownerOf({ url, functionName }) {
  if (url === '') return functionName.startsWith('(') ? functionName : 'V8 and native code'
  if (url.startsWith('node:')) return url.replace(/^node:(internal\/)?/, 'node: ').split('/')[0]
  const installed = [...url.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].at(-1)?.[1]
  if (installed !== undefined && !installed.startsWith('@ackhook/')) return installed
  return /packages\/([^/]+)\//.exec(url)?.[1].replace(/^/, '@ackhook/') ?? installed ?? 'benchmark'
}

function placeOf({ url, lineNumber }) {
  if (url === '') return ''
  return `${url.replace(/^.*\/(?=[^/]+\/[^/]+$)/, '')}:${lineNumber + 1}`
}

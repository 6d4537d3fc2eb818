/**
 * Runs one real delivery (`node:http`, memory inbox) through the built core and prints its path: the number of core
 * files it enters, of functions, of calls, and of calls that return to a file.
 *
 * In a build of core with a file for each source, each function reports its calls. Calls count from the request's arrival
 * until the handler is done and the event is finished. An earlier delivery runs first, so that one-time setup does not
 * count. In call order, a call in the same file as the previous one is a stay, the first call in a file is an entry, and
 * any other call is a return to a file that had been left. The end of a call is not a return. The helpers in TRANSPARENT
 * only call their arguments: they count as files, functions and calls, but neither leave a file nor return to one.
 *
 * - `--sequence` also prints the calls in order.
 * - `--check` fails if the number of files or returns exceeds its limit.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseSync } from 'rolldown/utils'
import { signedEvents } from '../bench/lib/deliver.mjs'
import { SECRET } from '../bench/lib/dialects.mjs'
import { writeCoreByFile } from './bundle-core.mjs'

/** Limits on the path that a reader must follow for one delivery. */
const MOST_FILES = 30
const MOST_RETURNS = 45
const TRANSPARENT = /(^|\/)maybe-promise\.js$/
const QUIET_MS = 20

const functions = []
let calls = []
globalThis.reportCall = number => calls.push(functions[number])

const folder = mkdtempSync(join(tmpdir(), 'ackhook-trace-'))
try {
  print(await traceDelivery(await instrumentedCore()))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Writes an instrumented core and returns its entry points' URLs. */
async function instrumentedCore() {
  await writeCoreByFile(folder)
  const dist = join(folder, 'dist')
  for (const name of readdirSync(dist, { recursive: true })) {
    if (name.endsWith('.js')) instrument(join(dist, name), relative(folder, join(dist, name)))
  }
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return ['.', './node'].map(one => pathToFileURL(join(folder, exports[one].default)).href)
}

/** Inserts a report at the beginning of each function. */
function instrument(path, file) {
  const text = readFileSync(path, 'utf8')
  const insertions = []
  walk(parseSync(path, text).program, undefined, (node, parent) => {
    if (!/^(Function(Declaration|Expression)|ArrowFunctionExpression)$/.test(node.type)) return
    const number = functions.push({ file, name: nameOf(node, parent) }) - 1
    const { type, start, end } = node.body
    if (type === 'BlockStatement') insertions.push([start + 1, `reportCall(${number});`])
    else insertions.push([start, `(reportCall(${number}), `], [end, ')'])
  })
  let changed = ''
  let from = 0
  // The sort is stable, and inner functions come after outer ones. At the same end, the order does not matter.
  for (const [at, inserted] of insertions.sort(([a], [b]) => a - b)) {
    changed += text.slice(from, at) + inserted
    from = at
  }
  writeFileSync(path, changed + text.slice(from))
}

function nameOf(node, parent) {
  const name = node.id ?? parent?.key ?? (parent?.type === 'VariableDeclarator' ? parent.id : undefined)
  return name?.name ?? '(anonymous)'
}

function walk(node, parent, visit) {
  if (typeof node.type === 'string') visit(node, parent)
  for (const value of Object.values(node)) {
    if (typeof value === 'object' && value !== null) {
      walk(value, Array.isArray(node) ? parent : node, visit)
    }
  }
}

/** Returns the calls of the second delivery, in order. */
async function traceDelivery([coreAddress, nodeAddress]) {
  const { createReceiver } = await import(coreAddress)
  const { toNodeHandler } = await import(nodeAddress)
  const receiver = createReceiver({ secret: SECRET })
  let handled = 0
  receiver.on('conversation.resolved', async () => {
    handled++
  })
  await receiver.start()
  const server = createServer(toNodeHandler(receiver))
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  const agent = new Agent({ keepAlive: true })
  const deliver = async () => {
    const before = handled
    calls = []
    await post(server.address().port, agent)
    while (handled === before) await setTimeout(1)
    await quiet()
    return [...calls]
  }
  await deliver()
  const traced = await deliver()
  agent.destroy()
  await new Promise(resolve => server.close(resolve))
  await receiver.close()
  return traced
}

function post(port, agent) {
  const [{ headers, body }] = signedEvents(1)
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', method: 'POST', agent, headers }
    request({ ...options, headers: { ...headers, 'content-length': body.length } }, response => {
      if (response.statusCode === 202) response.resume().on('end', resolve)
      else reject(new Error(`the delivery got ${response.statusCode}`))
    })
      .on('error', reject)
      .end(body)
  })
}

/** Waits until core makes no calls for a while: after the handler, it still has to finish the event. */
async function quiet() {
  for (let before = -1; calls.length !== before; ) {
    before = calls.length
    await setTimeout(QUIET_MS)
  }
}

function print(traced) {
  const files = new Map(traced.map(({ file }) => [file, { calls: 0, visits: 0 }]))
  let last
  for (const { file } of traced) {
    const counts = files.get(file)
    counts.calls++
    if (TRANSPARENT.test(file)) continue
    if (file !== last) counts.visits++
    last = file
  }
  const returns = [...files.values()].reduce((sum, { visits }) => sum + Math.max(0, visits - 1), 0)
  const lines = [
    `One delivery enters ${files.size} of core's files and ${new Set(traced).size} functions in ${traced.length} calls.`,
    `${returns} of the calls return to a file that had been left.`,
    '',
    '  calls  visits',
    ...[...files].map(
      ([file, { calls, visits }]) => `${String(calls).padStart(7)}${String(visits).padStart(8)}  ${file}`,
    ),
  ]
  if (process.argv.includes('--sequence')) {
    lines.push('', ...traced.map(({ file, name }) => `${file}  ${name}`))
  }
  process.stdout.write(`${lines.join('\n')}\n`)
  if (process.argv.includes('--check')) check({ files: files.size, returns })
}

function check({ files, returns }) {
  const wrong = [
    ...(files > MOST_FILES ? [`A delivery enters ${files} files; at most ${MOST_FILES} are allowed.`] : []),
    ...(returns > MOST_RETURNS
      ? [`A delivery returns to a file ${returns} times; at most ${MOST_RETURNS} are allowed.`]
      : []),
  ]
  if (wrong.length === 0) return
  process.stderr.write(`${wrong.join('\n')}\n`)
  process.exitCode = 1
}

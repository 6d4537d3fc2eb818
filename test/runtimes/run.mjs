/**
 * Runs the vectors, one whole delivery, deliveries beside an attack, the adapters' conformance suite and `sqliteInbox`
 * on every runtime that has them: `npm run test:runtimes`, or `node run.mjs Bun` for one of them. Exits with 1 if anything fails.
 */
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { adapterSuite, adapterSuiteOptions } from '@ackhook/conformance/adapter'
import { sign } from '@ackhook/testing'
import { behaves } from './behaves.mjs'
import { startFaults } from './client-faults.mjs'
import { DECLARED, DECLARED_OF_ADAPTER } from './declared.mjs'
import { overload } from './overload.mjs'
import { runtimes } from './runtimes.mjs'

const CASE_MS = 60_000
/** An address without a service, on a port below the range that systems assign. */
const REFUSED = 'http://127.0.0.1:1029'
/** A million requests on each runtime take an hour. */
const REQUESTS_OF_ORACLE = process.env.IN_FULL === '1' ? 1_000_000 : 2000
/** Requests of one call, which must end within its time limit. */
const AT_A_TIME = 2000
const wanted = process.argv[2]
let failures = 0

/** Most of the time goes into waiting for limits and timers of one runtime. */
const AT_ONCE = 2
const waiting = runtimes.filter(({ name }) => wanted === undefined || name === wanted)
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let runtime = waiting.shift(); runtime !== undefined; runtime = waiting.shift()) await check(runtime)
  }),
)
process.exit(failures > 0 ? 1 : 0)

async function check(runtime) {
  runtime.prepare?.()
  const server = await start(runtime)
  try {
    if (runtime.adapters === undefined) await runAll(runtime, server)
    for (const adapter of runtime.adapters ?? ['hono', 'fetch']) {
      report(runtime, `one delivery through ${adapter}`, await delivers(server.base, adapter))
      if (runtime.attacked)
        report(runtime, `64 heads beside ${adapter}`, await withstands(server.base, adapter))
      report(
        runtime,
        `the conformance suite through ${adapter}`,
        await conforms(server.base, adapter, runtime),
      )
    }
  } finally {
    server.stop()
  }
  if (runtime.sqlite !== undefined) report(runtime, 'sqliteInbox after a kill', await keepsEvents(runtime))
}

/** Runs everything except the adapters. */
async function runAll(runtime, server) {
  const { requests, wrong } = await getJson(`${server.base}/vectors`)
  report(runtime, `${requests} requests of the vectors`, wrong)
  const { secret } = adapterSuiteOptions
  const overloaded = await overload(server.base, { secret, endsWithRequest: runtime.endsWithRequest })
  report(runtime, 'more events at once than handlers', overloaded)
  const behavior = await behaves(server.base, {
    secret,
    output: server.output,
    endsWithRequest: runtime.endsWithRequest,
  })
  report(runtime, 'output, time limits and contexts', behavior)
  report(runtime, 'the client against a server with faults', await callsClient(server.base, runtime))
  report(runtime, 'verifyRequest alone', await verifiesAlone(server.base, secret))
  report(runtime, `${REQUESTS_OF_ORACLE} mutated requests beside Stripe's library`, await agrees(server.base))
}

function report({ name }, what, wrong) {
  failures += wrong.length
  console.log(`${wrong.length === 0 ? 'ok  ' : 'FAIL'} ${name}: ${what}`)
  for (const one of wrong) console.log(`     ${one}`)
}

function start({ name, command: [program, ...args] }) {
  const env = { ...process.env, SIGNING_SECRET: adapterSuiteOptions.secret, NODE_NO_WARNINGS: '1' }
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  child.stderr.pipe(process.stderr)
  return new Promise((resolve, reject) => {
    child.once('exit', code => reject(new Error(`${name} ended with ${code} before it listened`)))
    createInterface(child.stdout).on('line', line => {
      const port = /(?:listening on |"port":)(\d+)/.exec(line)?.[1]
      if (port === undefined) return
      resolve({ base: `http://127.0.0.1:${port}`, output: () => output, stop: () => child.kill('SIGKILL') })
    })
  })
}

/** Kills a process whose handlers never end, and starts one that must handle every event. */
async function keepsEvents({ sqlite: [program, ...args] }) {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-runtimes-'))
  const run = step =>
    new Promise(resolve => {
      const all = [...args, join(folder, 'events.db'), step]
      execFile(program, all, { timeout: CASE_MS }, (error, stdout, stderr) =>
        resolve({ signal: error?.signal, stdout, stderr }),
      )
    })
  const killed = await run('accept')
  const { stdout, stderr } = await run('resume')
  rmSync(folder, { recursive: true, force: true })
  const wrong = []
  if (killed.signal !== 'SIGKILL') wrong.push(`did not accept every event: ${killed.stderr}`)
  if (new Set(stdout.match(/evt_\d+/g)).size !== 20) wrong.push(`lost events: ${stdout}${stderr}`)
  if (!stdout.includes('closed')) wrong.push(`did not drain: ${stderr}`)
  return wrong
}

async function tooLate() {
  await new Promise(resolve => setTimeout(resolve, CASE_MS).unref())
  throw new Error(`not finished after ${CASE_MS} ms`)
}

async function getJson(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(CASE_MS) })
  if (!response.ok) throw new Error(`${url} returned ${response.status}`)
  return response.json()
}

/** Calls a server in this process with `@ackhook/client` on the runtime. */
async function callsClient(base, { tellsUnsent }) {
  const faults = await startFaults()
  const body = JSON.stringify({ faults: faults.url, refused: REFUSED, tells: tellsUnsent === true })
  try {
    const response = await fetch(`${base}/client`, {
      method: 'POST',
      body,
      signal: AbortSignal.timeout(CASE_MS),
    })
    return response.ok ? await response.json() : [`got ${response.status}`]
  } finally {
    faults.close()
  }
}

/** Verifies a genuine and a forged request without a receiver. */
async function verifiesAlone(base, secret) {
  const [id, body] = ['evt_alone', eventOf('evt_alone')]
  const verify = async key => {
    const headers = { 'x-service-signature': sign(body, { secret: key }) }
    const response = await fetch(`${base}/verify`, { method: 'POST', body, headers })
    return response.json()
  }
  const [genuine, forged] = [await verify(secret), await verify('whsec_somebody_elses_secret')]
  const right = genuine.event?.id === id && forged.reason === 'signature_mismatch'
  return right ? [] : [JSON.stringify([genuine, forged])]
}

async function agrees(base) {
  const first = Date.now() % 2 ** 31
  const wrong = []
  for (let done = 0; done < REQUESTS_OF_ORACLE && wrong.length === 0; done += AT_A_TIME) {
    const body = JSON.stringify({ seed: first + done, count: AT_A_TIME })
    const response = await fetch(`${base}/oracle`, { method: 'POST', body })
    wrong.push(...(response.ok ? (await response.json()).wrong : [`got ${response.status}`]))
  }
  return wrong
}

/** Delivers beside strangers who declare bodies of 1 MiB and send none of them. */
async function withstands(base, adapter) {
  const { hostname, port } = new URL(base)
  const head = `POST /${adapter} HTTP/1.1\r\nhost: a\r\ncontent-length: 1048576\r\n\r\n`
  const sockets = Array.from({ length: 64 }, () => connect(Number(port), hostname).on('error', () => {}))
  await Promise.all(sockets.map(socket => new Promise(resolve => socket.write(head, resolve))))
  const wrong = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const status = await send(base, adapter, `evt_beside_${adapter}_${i}`)
      return status === 202 ? [] : [`delivery ${i} got ${status}`]
    }),
  )
  for (const socket of sockets) socket.destroy()
  return wrong.flat()
}

function eventOf(id) {
  const data = { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'ai' }
  return JSON.stringify({ id, type: 'conversation.resolved', created_at: new Date().toISOString(), data })
}

async function send(base, adapter, id) {
  const body = eventOf(id)
  const headers = { 'x-service-signature': sign(body, adapterSuiteOptions) }
  const signal = AbortSignal.timeout(CASE_MS)
  return (await fetch(`${base}/${adapter}`, { method: 'POST', headers, body, signal })).status
}

/** Sends a signed event, which must be accepted and handled, and then again, as a duplicate. */
async function delivers(base, adapter) {
  const id = `evt_runtime_${adapter}`
  const wrong = []
  const first = await send(base, adapter, id)
  if (first !== 202) wrong.push(`got ${first} instead of 202`)
  if (!(await isHandled(base, id))) wrong.push('no handler received the event')
  const second = await send(base, adapter, id)
  if (second !== 200) wrong.push(`the duplicate got ${second} instead of 200`)
  return wrong
}

async function isHandled(base, id) {
  const deadline = performance.now() + 10_000
  while (performance.now() < deadline) {
    if ((await getJson(`${base}/handled`)).some(event => event.id === id)) return true
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  return false
}

async function conforms(base, adapter, { name }) {
  const declared = { ...DECLARED[name], ...DECLARED_OF_ADAPTER[adapter] }
  let handled = []
  let asked = false
  // Fetches the list only on demand: it is long, and would slow timed deliveries.
  const refresh = setInterval(async () => {
    if (!asked) return
    asked = false
    handled = await getJson(`${base}/handled`).catch(() => handled)
  }, 20)
  const target = {
    url: `${base}/${adapter}`,
    parsedUrl: `${base}/parsed/${adapter}`,
    handled() {
      asked = true
      return handled
    },
  }
  const wrong = []
  for (const { id, run } of adapterSuite({ open: () => target })) {
    const failure = await Promise.race([run().then(() => undefined), tooLate()]).catch(error => error)
    if (failure === undefined) continue
    if (declared[id] === undefined) wrong.push(`${id}: ${failure.message}`)
    else console.log(`     declared for ${name}: ${id}, because ${declared[id]}`)
  }
  clearInterval(refresh)
  return wrong
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { arch, platform } from 'node:process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { DIALECTS, SECRET } from '../../lib/dialects.mjs'
import { scratchFolder } from '../../lib/engines.mjs'
import { eventBody } from '../../lib/event-body.mjs'
import { meanInterval, median } from '../../lib/interval.mjs'

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "app", worker = .app)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "app")],
);
const app :Workerd.Worker = (
  modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
  compatibilityDate = "2026-11-01",
);
`

/** Measures the time from workerd's start to the first reply, for ours and bare Hono in turns, with one signed event. */
export async function measureColdStart(rounds) {
  const folders = [await bundle('bare-worker.mjs'), await bundle('ackhook-worker.mjs')]
  const [bare, ours] = folders.map(() => [])
  for (let round = -2; round < rounds; round++) {
    const times = [[], []]
    for (const i of round % 2 === 0 ? [0, 1] : [1, 0]) times[i] = await answerAfterMs(folders[i].path)
    if (round >= 0) {
      bare.push(times[0])
      ours.push(times[1])
    }
  }
  for (const folder of folders) folder.remove()
  return {
    bareMs: median(bare),
    oursMs: median(ours),
    differenceMs: meanInterval(ours.map((ms, round) => ms - bare[round])),
  }
}

/** Bundles one module with the Workers export conditions, as wrangler does. */
async function bundle(file) {
  const folder = scratchFolder()
  const built = await rolldown({
    input: fileURLToPath(new URL(file, import.meta.url)),
    platform: 'neutral',
    transform: { define: { 'globalThis.BENCH_SECRET': JSON.stringify(SECRET) } },
    resolve: { conditionNames: ['workerd', 'worker', 'browser', 'import'] },
  })
  await built.write({ file: join(folder.path, 'worker.mjs'), format: 'esm' })
  await built.close()
  writeFileSync(join(folder.path, 'worker.capnp'), CONFIG)
  return folder
}

async function answerAfterMs(folder) {
  const { bytes } = eventBody(300)
  const headers = DIALECTS.service(bytes, Math.floor(Date.now() / 1000), '')
  const began = performance.now()
  const child = spawn(program(), ['serve', '--control-fd=1', join(folder, 'worker.capnp')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const { port } = JSON.parse(line)
  const reply = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: bytes,
  })
  await reply.arrayBuffer()
  const ms = performance.now() - began
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
  if (reply.status !== 202) throw new Error(`the Worker returned ${reply.status}`)
  return ms
}

/** Returns the binary inside this platform's package, so that no install script has to run. */
function program() {
  const name = `@cloudflare/workerd-${platform}-${arch === 'x64' ? '64' : arch}`
  return createRequire(import.meta.url)
    .resolve(`${name}/package.json`)
    .replace('package.json', 'bin/workerd')
}

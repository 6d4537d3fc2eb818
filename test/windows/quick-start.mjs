/**
 * Follows the quick start with Express from packed packages, without a shell of its own: for Windows in CI, and anywhere else.
 * `node test/windows/quick-start.mjs`. Exit code 0 if the event was handled and the duplicate was not.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'ackhook quick start '))
const port = await freePort()
const env = { ...process.env, SIGNING_SECRET: 'whsec_of_a_project_in_a_test' }
// On Windows, npm and npx are scripts of cmd.
const shell = process.platform === 'win32'

const packed = run('npm', ['run', 'pack', '--silent', '--', 'express', 'ackhook'], root)
const files = Array.from(packed.matchAll(/"([^"]+\.tgz)"/g), ([, file]) => quoted(file))
run('npm', ['init', '-y'])
run('npm', ['install', '--no-audit', '--no-fund', 'express', ...files])
const page = readFileSync(join(root, 'docs/getting-started/express.md'), 'utf8')
const [, code = ''] =
  /<!-- test: new-user file=server\.mjs -->[\s\S]*?```[jt]s\n([\s\S]*?)```/.exec(page) ?? []
writeFileSync(join(folder, 'server.mjs'), code.replaceAll('3000', String(port)))

const app = spawn(process.execPath, ['server.mjs'], {
  cwd: folder,
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
})
let printed = ''
app.stdout.setEncoding('utf8').on('data', text => {
  printed += text
})
try {
  await until(() => printed.includes('Listening'))
  const send = ['ackhook', 'send', 'conversation.resolved', '--to', `http://localhost:${port}/webhooks`]
  expect(run('npx', send), '202 accepted')
  expect(run('npx', [...send, '--duplicate']), '200 duplicate')
  await until(() => printed.match(/was resolved by/g)?.length === 2)
} finally {
  const ended = once(app, 'exit')
  app.kill()
  await ended
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}
process.stdout.write(`${printed}The quick start works on ${process.platform}.\n`)

function run(command, args, cwd = folder) {
  const { status, stdout, error } = spawnSync(command, args, {
    cwd,
    env,
    shell,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${stdout}`)
  return stdout
}

/** Quotes a path for cmd, which splits at spaces. */
function quoted(path) {
  return shell ? `"${path}"` : path
}

function expect(text, part) {
  if (!text.includes(part)) throw new Error(`expected ${part} in:\n${text}`)
}

async function until(isTrue) {
  for (let i = 0; !isTrue(); i++) {
    if (app.exitCode !== null || i === 600) throw new Error(`not so within a minute:\n${printed}`)
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port: free } = server.address()
  server.close()
  await once(server, 'close')
  return free
}

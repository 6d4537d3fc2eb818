import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

export const SECRET = 'whsec_of_a_project_in_a_test'
const PATIENCE_MS = 60_000

/** A folder in which an agent works, and the app that it leaves there. */
export class Project {
  /** @type {string} */
  folder
  #port = 0
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #app
  #printed = ''

  /** @param {string} folder */
  constructor(folder) {
    this.folder = folder
  }

  /** @param {Readonly<Record<string, string>>} files */
  write(files) {
    mkdirSync(this.folder, { recursive: true })
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.folder, name), text)
  }

  /** @param {string} name */
  lines(name) {
    const path = join(this.folder, name)
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
  }

  /** Runs a command of a shell in the folder, with `input` on standard input. @param {string} command */
  run(command, input = '') {
    const { status, stdout, stderr } = spawnSync(command, {
      ...{ cwd: this.folder, shell: true, encoding: 'utf8', input },
      env: { ...process.env, SIGNING_SECRET: SECRET, PORT: String(this.#port) },
    })
    return { code: status, output: `${stdout}${stderr}` }
  }

  /** Starts `server.mjs` on a free port, and resolves once it replies. Rejects if it ends or stays silent. */
  async start() {
    this.#port = await freePort()
    const app = spawn(process.execPath, ['server.mjs'], {
      ...{ cwd: this.folder, stdio: ['ignore', 'pipe', 'pipe'] },
      env: { ...process.env, SIGNING_SECRET: SECRET, PORT: String(this.#port) },
    })
    for (const stream of [app.stdout, app.stderr]) stream.on('data', chunk => (this.#printed += chunk))
    this.#app = app
    await this.until('the app to listen', async () => {
      if (app.exitCode !== null) throw new Error(`server.mjs ended with ${app.exitCode}:\n${this.#printed}`)
      return fetch(`http://localhost:${this.#port}/`).then(
        () => true,
        () => false,
      )
    })
  }

  /** Ends the app at once, as a crash does. */
  async kill() {
    const app = this.#app
    if (app === undefined || app.exitCode !== null || app.signalCode !== null) return
    const ended = once(app, 'exit')
    app.kill('SIGKILL')
    await ended
  }

  /** Sends a signed event with the command line. Returns what it printed. @param {string[]} flags */
  send(...flags) {
    const to = `http://localhost:${this.#port}/webhooks`
    return this.run(`npx ackhook send conversation.resolved --to ${to} ${flags.join(' ')}`).output
  }

  /** @param {string} what @param {() => boolean | Promise<boolean>} isTrue */
  async until(what, isTrue) {
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await wait(100)) if (await isTrue()) return
    throw new Error(`waited in vain for ${what}:\n${this.#printed}`)
  }
}

async function freePort() {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  server.close()
  await once(server, 'close')
  return port
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { createSharedFolder, type PostgresServer } from './postgres.ts'
import { requireProgram } from './require-program.ts'
import { until } from './until.ts'

/** Starts a real PgBouncer for one test, in front of a PostgreSQL. */
export interface PgBouncer {
  readonly url: string
  stop(): Promise<void>
}

const HOST = '127.0.0.1'

export async function startPgBouncer(
  server: PostgresServer,
  poolMode: 'session' | 'transaction',
): Promise<PgBouncer> {
  const folder = createSharedFolder('ackhook-pgbouncer-')
  const port = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  const { username } = new URL(server.url)
  writeFileSync(
    file,
    [
      '[databases]',
      `* = host=${HOST} port=${server.port} user=${username}`,
      '[pgbouncer]',
      `listen_addr = ${HOST}`,
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      `pool_mode = ${poolMode}`,
      // In session mode, each client connection keeps a server connection.
      `default_pool_size = ${poolMode === 'session' ? 20 : 5}`,
      // BullMQ sets its schema in these. Here, the user's search_path does that.
      'ignore_startup_parameters = options',
      '',
    ].join('\n'),
  )
  // PgBouncer refuses to run as root, and reads the file as another user.
  chmodSync(folder, 0o755)
  chmodSync(file, 0o644)
  const asUser = process.getuid?.() === 0 ? ['-u', 'postgres'] : []
  const child = spawn(requireProgram('pgbouncer'), ['-q', ...asUser, file], { stdio: 'ignore' })
  await until('PgBouncer listens', () => listens(port))
  return {
    url: server.url.replace(`:${server.port}`, `:${port}`),
    async stop() {
      await end(child)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

function listens(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, HOST, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

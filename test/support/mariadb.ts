import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { createSharedFolder } from './postgres.ts'
import { requireProgram } from './require-program.ts'
import { until } from './until.ts'

/** A real MariaDB for one test, with its defaults for flushing and isolation. */
export interface MariadbServer {
  readonly host: '127.0.0.1'
  readonly port: number
  readonly url: string
  readonly pid: number
  /** Ends the server at once, and removes its folder. */
  stop(): Promise<void>
}

const HOST = '127.0.0.1'

export async function startMariadb(): Promise<MariadbServer> {
  const program = requireProgram('mariadbd')
  const folder = createSharedFolder('ackhook-mariadb-')
  const asRoot = process.getuid?.() === 0
  if (asRoot) chownSync(folder, idOf('-u'), idOf('-g'))
  const user = asRoot ? ['--user=mysql'] : []
  const data = `--datadir=${join(folder, 'data')}`
  // The default of 96 MB would be written for each test.
  const small = '--innodb-log-file-size=8M'
  execFileSync(
    'mariadb-install-db',
    ['--no-defaults', ...user, data, small, '--auth-root-authentication-method=normal', '--skip-test-db'],
    { stdio: 'ignore' },
  )
  const port = await freePort()
  const child = spawn(
    program,
    [
      '--no-defaults',
      ...user,
      data,
      small,
      `--port=${port}`,
      `--bind-address=${HOST}`,
      `--socket=${join(folder, 'socket')}`,
      `--pid-file=${join(folder, 'pid')}`,
      '--skip-grant-tables',
      '--skip-networking=0',
      '--max-connections=300',
    ],
    { stdio: 'ignore' },
  )
  const onExit = (): void => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', onExit)
  await until('MariaDB listens', () => listens(port))
  return {
    host: HOST,
    port,
    url: `mysql://root@${HOST}:${port}/test`,
    pid: child.pid!,
    async stop() {
      process.off('exit', onExit)
      await end(child)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Debian's package creates this user: the server refuses to run as root. */
function idOf(flag: string): number {
  return Number(execFileSync('id', [flag, 'mysql'], { encoding: 'utf8' }))
}

function listens(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, HOST)
    const settle = (isOpen: boolean): void => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.on('connect', () => settle(true))
    socket.on('error', () => settle(false))
  })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const HERE = fileURLToPath(new URL('../', import.meta.url))

/**
 * Starts a server in its own process, so that the load does not run on its event loop. `bench` is the folder whose
 * servers, and whose checkout's packages, are started.
 */
export async function startServer(
  module,
  variant,
  { bench = HERE, execPath = process.execPath, execArgv = [], env = {} } = {},
) {
  const child = fork(`${bench}/servers/serve.mjs`, [module, variant], {
    execPath,
    execArgv,
    env: { ...process.env, ...env },
  })
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ${module} '${variant}' exited with ${code}`)
  })
  failed.catch(() => {})
  const ask = async question => {
    const answer = once(child, 'message')
    if (question !== undefined) child.send(question)
    const [message] = await Promise.race([answer, failed])
    return message
  }
  const { port } = await ask()
  return {
    port,
    /**
     * Returns CPU time, memory, events handled and event loop delay; `'reset'`, `'collect'`, `'count'` and
     * `{ keepLedger }` first do what they say. `'ledger'` returns the ledger.
     */
    ask,
    async stop() {
      if (child.exitCode !== null) return
      const gone = once(child, 'exit')
      child.kill()
      await gone
    },
  }
}

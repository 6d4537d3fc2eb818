import { fork } from 'node:child_process'
import { once } from 'node:events'

/** Starts a server in its own process, so that the load does not run on its event loop. */
export async function startServer(
  module,
  variant,
  { execPath = process.execPath, execArgv = [], env = {} } = {},
) {
  const child = fork(new URL('../servers/serve.mjs', import.meta.url), [module, variant], {
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
    pid: child.pid,
    /**
     * Returns CPU time, memory, events handled and event loop delay; `'reset'`, `'collect'`, `'profile cpu'` and
     * `'profile heap'` first do what they say. `'profiled'` returns the profile.
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

import { fork } from 'node:child_process'
import { once } from 'node:events'

/** The one message that a new process sends: a fresh heap, and code that is compiled for nothing else. */
export async function measureInProcess(module, words = []) {
  const child = fork(module, words, { execArgv: [] })
  const gone = once(child, 'exit')
  const failed = gone.then(([code]) => {
    throw new Error(`${module.pathname} ended with ${code} before it had a result`)
  })
  failed.catch(() => {})
  const [result] = await Promise.race([once(child, 'message'), failed])
  await gone
  return result
}

import { fork } from 'node:child_process'
import { once } from 'node:events'

/** Runs a module in a new process, with a fresh heap and newly compiled code, and returns its one message. */
export async function measureInProcess(module, words = []) {
  const child = fork(module, words, { execArgv: [] })
  const gone = once(child, 'exit')
  const failed = gone.then(([code]) => {
    throw new Error(`${module.pathname} ended with ${code} before it sent a result`)
  })
  failed.catch(() => {})
  const [result] = await Promise.race([once(child, 'message'), failed])
  await gone
  return result
}

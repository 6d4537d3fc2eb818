import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { EmulatorOptions } from '@ackhook/emulator'

const PROGRAM = fileURLToPath(new URL('emulator-child.mjs', import.meta.url))

export interface EmulatorProcess {
  readonly url: string
  readonly pid: number
  /** Resolves when the process is gone. */
  kill(): Promise<void>
}

/** Starts an emulator process and resolves when it listens. */
export async function startEmulatorProcess(options: EmulatorOptions): Promise<EmulatorProcess> {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit')
  const ended = exited.then(([code]) => {
    throw new Error(`the emulator ended with ${String(code)} instead of starting`)
  })
  ended.catch(() => {})
  const [message] = await Promise.race([once(child, 'message'), ended])
  return {
    url: (message as { url: string }).url,
    pid: child.pid as number,
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

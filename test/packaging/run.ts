import { execFile } from 'node:child_process'

/** Runs a program to its end and gives what it wrote; rejects with all of that when it fails. */
export function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = options.env ?? process.env
    const limits = { cwd: options.cwd, env, maxBuffer: 64 * 1024 * 1024 }
    execFile(program, args, limits, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${program} ${args.join(' ')} failed\n${stdout}\n${stderr}`))
    })
  })
}

import { execFile } from 'node:child_process'

/** Runs a program to its end and returns its output; rejects with the whole output if it fails. */
export function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const limits = { cwd: options.cwd, env: options.env ?? userEnv(), maxBuffer: 64 * 1024 * 1024 }
    execFile(program, args, limits, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${program} ${args.join(' ')} failed\n${stdout}\n${stderr}`))
    })
  })
}

/** Returns the environment without variables from `npm run`: a user's project does not have this repository's settings. */
function userEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))
}

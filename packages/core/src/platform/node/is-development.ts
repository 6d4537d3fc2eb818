/**
 * Returns whether something says that a developer runs this process: `NODE_ENV`, a watcher that restarts it, or a
 * terminal. Nothing is concluded from what is unset, because few deployments set it. `NODE_ENV=production` overrules
 * the other signs: a container may have a terminal.
 */
export function isDevelopment(env: NodeJS.ProcessEnv = process.env): boolean {
  const { NODE_ENV } = env
  if (NODE_ENV === 'development' || NODE_ENV === 'production') return NODE_ENV === 'development'
  // `node --watch` sets this one.
  return env['WATCH_REPORT_DEPENDENCIES'] !== undefined || hasTerminal() || isWatcher(parentArguments())
}

/** Returns whether a test runner started this process: Vitest, Jest and Bun set the first one, `node --test` the second. */
export function isTest(env: NodeJS.ProcessEnv = process.env): boolean {
  const { NODE_ENV } = env
  return NODE_ENV === 'test' || (NODE_ENV !== 'production' && env['NODE_TEST_CONTEXT'] !== undefined)
}

/** Returns whether a command line is that of a watcher. `tsx watch`, nodemon and node-dev set no variable. */
export function isWatcher(args: readonly string[]): boolean {
  return args.some(
    (arg, i) =>
      /(?:^|[/\\])(?:nodemon|node-dev)(?:\.m?js)?$/.test(arg) ||
      (/(?:^|[/\\])tsx(?:[/\\]dist[/\\]cli\.mjs)?$/.test(arg) && args[i + 1] === 'watch'),
  )
}

// Modules are got when needed: a bundle for Workers contains this file, and must import none of Node's.
function hasTerminal(): boolean {
  return process.getBuiltinModule?.('node:tty').isatty(0) ?? false
}

/** Returns the command line of the process that started this one, where Linux lets it be read. */
function parentArguments(): readonly string[] {
  try {
    const { readFileSync } = process.getBuiltinModule('node:fs')
    return readFileSync(`/proc/${process.ppid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}

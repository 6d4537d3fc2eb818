import type { WorkerOptions } from 'node:worker_threads'

/** Flags that change how the thread's files are found, or which warnings it prints. */
const KEPT: readonly string[] = [
  '--experimental-sqlite',
  '--no-experimental-sqlite',
  '--no-addons',
  '--no-warnings',
  '--preserve-symlinks',
  '--preserve-symlinks-main',
]
const KEPT_WITH_VALUE: readonly string[] = ['--disable-warning']
const PRELOADS: readonly string[] = ['-r', '--require', '--import', '--loader', '--experimental-loader']
/** Loader of Yarn's Plug'n'Play: without it nothing could be imported. */
const RESOLVER = /(^|[\\/])\.pnp\.(c?js|loader\.mjs)$/

/**
 * Returns the thread's flags. Node would run the application's preloads again in the thread, from the flags and from
 * `NODE_OPTIONS`: telemetry would count twice, and a preload that opens a port would end the thread.
 */
export function threadFlags(
  execArgv: readonly string[] = process.execArgv,
  env: NodeJS.ProcessEnv = process.env,
): Required<Pick<WorkerOptions, 'execArgv' | 'env'>> {
  const flags = [...execArgv, ...splitOptions(env['NODE_OPTIONS'] ?? '')]
  return { execArgv: keptOf(flags), env: { ...env, NODE_OPTIONS: '' } }
}

function keptOf(flags: readonly string[]): string[] {
  return flags.flatMap((flag, index) => {
    if (KEPT.includes(flag)) return [flag]
    const [name = flag, joined] = flag.split(/=(.*)/s)
    const value = joined ?? flags[index + 1]
    if (value === undefined) return []
    const isKept = KEPT_WITH_VALUE.includes(name) || (PRELOADS.includes(name) && RESOLVER.test(value))
    return isKept ? [name, value] : []
  })
}

/** Splits `NODE_OPTIONS` as Node does: at spaces, except in double quotes. */
function splitOptions(text: string): string[] {
  const options = text.match(/(?:"(?:\\.|[^"\\])*"|[^\s"])+/g) ?? []
  return options.map(option =>
    option.replace(/"((?:\\.|[^"\\])*)"/g, (_, quoted: string) => quoted.replace(/\\(.)/g, '$1')),
  )
}

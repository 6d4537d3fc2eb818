import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:process'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
const here = file => fileURLToPath(new URL(file, import.meta.url))
const host = `${platform}-${arch}`
/** Modules that a Worker may import with the flag `nodejs_compat`, but core may not. */
const OF_WORKERS = ['node:http', 'cloudflare:node']

/** Returns the binary inside this platform's package, so that no install script has to run. */
const program = (name, file) => require.resolve(`${name}/package.json`).replace('package.json', file)

const BUN = program(`@oven/bun-${host.replace('arm64', 'aarch64')}`, 'bin/bun')
const DENO = program(`@deno/${platform === 'linux' ? `${host}-glibc` : host}`, 'deno')
const DENO_RUN = ['run', '--allow-env', '--allow-read', '--no-remote']

/** `tellsUnsent`: an error from `fetch` shows that nothing was sent. */
const node = major => ({
  name: `Node ${major}`,
  tellsUnsent: true,
  command: [program(`node${major}-${host}`, 'bin/node'), here('serve-node.mjs')],
})

/**
 * Every runtime with the command that serves the app on it and prints its port. `adapters`: the app has only these, and
 * nothing else is tested. `attacked`: deliveries are
 * sent beside an attack; test/hosts/body-attacks.test.ts does it on Node. `sqlite`: the command of a process with `sqliteInbox`. The Node versions are installed on Linux only (`optionalDependencies`), because the registry has
 * no others.
 */
export const runtimes = [
  node(20),
  node(22),
  node(24),
  node(26),
  {
    name: 'Bun',
    attacked: true,
    tellsUnsent: true,
    command: [BUN, here('serve-bun.mjs')],
    sqlite: [BUN, here('sqlite.mjs')],
  },
  {
    name: 'Deno',
    attacked: true,
    command: [DENO, ...DENO_RUN, '--allow-net=127.0.0.1', here('serve-deno.mjs')],
    // The signal with which the test ends itself needs --allow-run.
    sqlite: [DENO, ...DENO_RUN, '--allow-write', '--allow-sys', '--allow-run', here('sqlite.mjs')],
  },
  {
    name: 'workerd',
    // The end of a request also ends its handlers' timers and promises.
    endsWithRequest: true,
    prepare: () => bundleWorker('worker'),
    command: workerd('worker'),
  },
  {
    name: 'workerd with node:http',
    adapters: ['node'],
    prepare: () => bundleWorker('worker-node', OF_WORKERS),
    command: workerd('worker-node'),
  },
]

function workerd(name) {
  const binary = program(`@cloudflare/workerd-${host.replace('x64', '64')}`, 'bin/workerd')
  return [binary, 'serve', '--control-fd=1', here(`${name}.capnp`)]
}

/** Bundles one module with the Workers conditions, as wrangler does. Any other import of `node:` fails here. */
function bundleWorker(name, external = []) {
  const conditions = ['workerd', 'worker', 'browser']
  execFileSync(program(`@esbuild/${host}`, 'bin/esbuild'), [
    ...[here(`${name}.mjs`), `--outfile=${here(`dist/${name}.mjs`)}`],
    ...['--bundle', '--format=esm', '--platform=neutral', '--target=es2024', '--log-level=warning'],
    `--conditions=${conditions.join(',')}`,
    ...external.map(one => `--external:${one}`),
  ])
}

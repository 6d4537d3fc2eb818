/** A package manager's commands, and the files that it reads. */
export interface Manager {
  readonly name: 'npm' | 'pnpm' | 'yarn' | 'bun'
  /** Command that installs the manager on a machine with Node; absent if Node brings it. */
  readonly setup?: string
  /** Installs exactly what the lock file says. */
  readonly install: string
  /** The same, without development's packages. */
  readonly installForProduction: string
  /** Files that an installation reads. */
  readonly reads: readonly string[]
}

/** Returns the manager that started the command, by its user agent: `pnpm/12.4.2 npm/? node/v24.21.0`. */
export function managerOf(userAgent = ''): Manager {
  const [, name = 'npm', version = ''] = /^(\w+)\/([\d.]+)/.exec(userAgent) ?? []
  if (name === 'pnpm') {
    return {
      name,
      setup: `npm install --global pnpm@${version}`,
      install: 'pnpm install --frozen-lockfile',
      installForProduction: 'pnpm install --frozen-lockfile --prod',
      reads: ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'],
    }
  }
  if (name === 'bun') {
    return {
      name,
      setup: `npm install --global bun@${version}`,
      install: 'bun install --frozen-lockfile',
      installForProduction: 'bun install --frozen-lockfile --production',
      reads: ['package.json', 'bun.lock'],
    }
  }
  if (name === 'yarn') return version.startsWith('1.') ? CLASSIC_YARN : yarn(version)
  return NPM
}

const NPM: Manager = {
  name: 'npm',
  install: 'npm ci',
  installForProduction: 'npm ci --omit=dev',
  reads: ['package.json', 'package-lock.json'],
}

const CLASSIC_YARN: Manager = {
  name: 'yarn',
  install: 'yarn install --frozen-lockfile',
  installForProduction: 'yarn install --frozen-lockfile --production',
  reads: ['package.json', 'yarn.lock'],
}

function yarn(version: string): Manager {
  return {
    name: 'yarn',
    // Images of Node and CI have Yarn 1 under this name.
    setup: `npm install --global --force @yarnpkg/cli-dist@${version}`,
    install: 'yarn install --immutable',
    installForProduction: 'yarn workspaces focus --production',
    reads: ['package.json', 'yarn.lock', '.yarnrc.yml'],
  }
}

/** Packages with an install script that nothing needs: they bring binaries, or work without one. */
const NEEDLESS_SCRIPTS: readonly string[] = ['@photostructure/sqlite', 'msgpackr-extract']

/** Decides about install scripts: pnpm ends with an error, and npm with a warning, if no one has. */
export const SCRIPTS: Readonly<Record<string, boolean>> = Object.fromEntries(
  NEEDLESS_SCRIPTS.map(name => [name, false]),
)

/** Returns a manager's own settings, by file. */
export function settingsOf({ name, reads }: Manager): Readonly<Record<string, string>> {
  if (name === 'pnpm') {
    const builds = Object.keys(SCRIPTS).map(one => `  '${one}': false\n`)
    return {
      'pnpm-workspace.yaml': `# Install scripts that nothing needs.\nallowBuilds:\n${builds.join('')}`,
    }
  }
  if (name !== 'yarn' || !reads.includes('.yarnrc.yml')) return {}
  return { '.yarnrc.yml': 'nodeLinker: node-modules\n' }
}

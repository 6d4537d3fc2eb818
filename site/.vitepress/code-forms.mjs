/** Package managers that commands are shown for. The pages are written for the first. */
export const MANAGERS = ['npm', 'pnpm', 'yarn', 'bun']
export const LANGUAGES = ['js', 'ts']

/** Types of packages that ship none, for the TypeScript form. */
const TYPES = { express: '@types/express' }
const RUNNER = ['tsx', '@types/node']
/** Yarn's own loader reads a .mts file as CommonJS on Node 20, so `await` outside of functions fails. */
const IN_NODE_MODULES = 'yarn config set nodeLinker node-modules'
/** Parts of a command that PowerShell reads differently. */
const ONLY_IN_A_SHELL = /[\\$|<>&;(){}'"#]|^\w+=/
const FILE_BLOCK = /^<!-- test: new-user file=(\S+\.mjs) -->\n(?:<!-- [^\n]* -->\n)*```ts$/gm

/**
 * Returns the files of a page that have a TypeScript form: those of a quick start that its commands run with `node`.
 * test/packaging/tabs.heavy.ts follows each form of these pages.
 */
export function filesWithForms(source) {
  return [...source.matchAll(FILE_BLOCK)]
    .map(match => match[1])
    .filter(file => new RegExp(`^node (?:\\S+ )*${file.replaceAll('.', '\\.')}$`, 'm').test(source))
}

/** Returns a name or text in which the page's files have the extension of a language. */
export function namesFor(text, language, files) {
  if (language === 'js') return text
  return files.reduce((result, file) => result.replaceAll(file, file.replace(/\.mjs$/, '.mts')), text)
}

/**
 * Returns shell commands for a package manager and a language.
 *
 * @param {string} code
 * @param {{ manager: string, language?: string, files?: readonly string[] }} form
 */
export function commandsFor(code, { manager, language = 'js', files = [] }) {
  // These blocks work in a checkout of this repository, which has one package manager.
  if (/^(git clone|npm ci)\b|\bnpm run\b/m.test(code)) return code
  const isTypeScript = language === 'ts' && files.length > 0
  return code
    .split('\n')
    .map(line => {
      const command = commandFor(isTypeScript ? inTypeScript(line, files) : line, manager)
      return isTypeScript && command === 'yarn init -y' ? `${command}\n${IN_NODE_MODULES}` : command
    })
    .join('\n')
}

/** Returns commands for PowerShell, or `undefined` if more than variables would have to be translated. */
export function commandsForPowerShell(code) {
  const lines = code.split('\n').map(line => {
    const [, name, value] = /^export (\w+)=([\w./:@-]+)$/.exec(line) ?? []
    if (name !== undefined) return `$env:${name} = '${value}'`
    return ONLY_IN_A_SHELL.test(line) ? undefined : line
  })
  return lines.includes(undefined) ? undefined : lines.join('\n')
}

function inTypeScript(line, files) {
  const [, runner, file] = /^(node (?:\S+ )*)(\S+)$/.exec(line) ?? []
  if (file !== undefined && files.includes(file))
    return `${runner}--import tsx ${namesFor(file, 'ts', files)}`
  if (/^npm install --save-dev /.test(line)) return `${line} ${RUNNER.join(' ')}`
  if (!/^npm install /.test(line)) return namesFor(line, 'ts', files)
  const types = line.split(' ').flatMap(name => TYPES[name] ?? [])
  return types.length === 0 ? line : `${line}\nnpm install --save-dev ${types.join(' ')}`
}

function commandFor(line, manager) {
  if (manager === 'npm') return line
  if (line.includes('\n'))
    return line
      .split('\n')
      .map(one => commandFor(one, manager))
      .join('\n')
  const [, verb = '', rest = ''] =
    /^(npm init -y|npm install|npm create|npx|node)(?= |$) ?(.*)$/.exec(line) ?? []
  const forms = { 'npm init -y': init, 'npm install': install, 'npm create': create, npx: execute, node: run }
  return forms[verb]?.(manager, rest) ?? line
}

function init(manager) {
  return manager === 'pnpm' ? 'pnpm init' : `${manager} init -y`
}

function install(manager, packages) {
  if (packages === '') return `${manager} install`
  const names = packages.replace(/^--save-dev /, manager === 'pnpm' ? '--save-dev ' : '--dev ')
  // pnpm ends with an error unless a build script is allowed or denied.
  const builds = manager === 'pnpm' && / tsx\b/.test(names) ? '--allow-build=esbuild ' : ''
  return `${manager} add ${builds}${names}`
}

function create(manager, rest) {
  return `${manager} create ${rest.replace(' -- ', ' ')}`
}

function execute(manager, command) {
  const programs = { pnpm: 'pnpm exec', yarn: 'yarn', bun: 'bunx' }
  return `${programs[manager]} ${command}`
}

/** Yarn may keep packages where only it finds them. */
function run(manager, args) {
  return manager === 'yarn' ? `yarn node ${args}` : `node ${args}`
}

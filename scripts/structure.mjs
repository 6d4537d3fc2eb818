/**
 * Prints the structure of the packages' sources, without tests: the longest functions, the number of files in each
 * folder, import cycles, and core's import levels and code lines. With `--check` it also fails if a limit is exceeded.
 *
 * - A function's length is the number of lines from its name to its closing brace. Methods count, and so do arrow
 *   functions with a block; class bodies and single-expression arrow functions do not.
 * - A cycle is a set of files that import each other, types included. `#platform`, `#scheduler` and `#collect-body` each
 *   count as imports of both their Node and their web file.
 * - A code line contains more than spaces and comments.
 * - A file without imports from its own package is on level 1, any other file one level above its highest import.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'rolldown/utils'

const MOST_LINES_OF_A_FUNCTION = 60
const MOST_FILES_OF_A_FOLDER = 20
/**
 * Core without code that only durable inboxes load: 4,450 after it was made small, 4,750 with fault reports. The rest
 * pays for logs for operators (outages, clocks, a filling queue, drains), the limit on bytes in memory, trace contexts,
 * and verification floors.
 */
const MOST_CODE_LINES_OF_CORE = 5028
const MOST_CODE_LINES_OF_SHARING = 360
const MOST_CODE_LINES_OF_PUSH = 500
const SHARING = /inbox.sharing/
/** Code that only inboxes with a push engine load. */
const PUSH = /inbox.push|src.push/
/** Code for shutdown and health probes: not part of a delivery's path, like sharing. */
const MOST_CODE_LINES_OF_OPERATING = 290
const OPERATING = /src.health|src.node.(graceful-shutdown|server-closer|node-health)/
const LONGEST_SHOWN = 20
const LONG_LINES = 40

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']
/** Nodes that name a function and start before it. */
const NAMING = ['MethodDefinition', 'Property', 'PropertyDefinition', 'VariableDeclarator']

/** Files that a specifier resolves to, on Node and elsewhere. */
const BY_PLATFORM = {
  '#platform': ['platform/node/platform.ts', 'platform/web/platform.ts'],
  '#collect-body': ['node/collect-with-raw-body.ts', 'node/collect-without-raw-body.ts'],
  '#scheduler': ['inbox/memory/queueing-scheduler.ts', 'inbox/memory/per-request-scheduler.ts'],
}

const root = fileURLToPath(new URL('..', import.meta.url))
const packages = readdirSync(join(root, 'packages')).filter(one => existsSync(sourcesOf(one)))
const files = packages.flatMap(one => sourceFiles(sourcesOf(one)).map(path => readSource(one, path)))
const functions = files.flatMap(file => file.functions).sort((a, b) => b.lines - a.lines)
const tooLong = functions.filter(one => one.lines > MOST_LINES_OF_A_FUNCTION)
const circles = packages.flatMap(circlesOf)
const core = files.filter(file => file.owner === 'core')
const sharingLines = linesOf(core.filter(({ path }) => SHARING.test(path)))
const operatingLines = linesOf(core.filter(({ path }) => OPERATING.test(path)))
const pushLines = linesOf(core.filter(({ path }) => PUSH.test(path)))
const coreLines = linesOf(core) - sharingLines - pushLines - operatingLines
const folders = filesOfFolders()

print()
if (process.argv.includes('--check')) check()

function print() {
  const long = functions.filter(one => one.lines > LONG_LINES)
  section(
    `${functions.length} functions, ${tooLong.length} over ${MOST_LINES_OF_A_FUNCTION} lines, ${long.length} over ${LONG_LINES} lines. The longest:`,
    functions.slice(0, LONGEST_SHOWN).map(showFunction),
  )
  section(
    `${files.length} files. In each folder:`,
    folders.map(([folder, count]) => `${pad(count)}  ${folder}`),
  )
  section(`${circles.length} import cycles.`, circles.map(showCircle))
  const levels = levelsOf(core)
  section(
    `Core: ${core.length} files, ${coreLines} code lines, ${sharingLines} of sharing, ${pushLines} of push and ${operatingLines} of shutdown and health, ${levels.length} import levels.`,
    levels.map(
      (names, i) =>
        `${pad(i + 1)}  ${pad(names.length)} ${names.length === 1 ? 'file ' : 'files'}  ${names.join(' ')}`,
    ),
  )
}

function check() {
  const wrong = [
    ...tooLong.map(one => `over ${MOST_LINES_OF_A_FUNCTION} lines: ${showFunction(one).trim()}`),
    ...circles.map(circle => `import cycle: ${showCircle(circle)}`),
  ]
  if (coreLines > MOST_CODE_LINES_OF_CORE) {
    wrong.push(`core has ${coreLines} code lines, at most ${MOST_CODE_LINES_OF_CORE} are allowed`)
  }
  if (operatingLines > MOST_CODE_LINES_OF_OPERATING) {
    wrong.push(
      `shutdown and health have ${operatingLines} code lines, at most ${MOST_CODE_LINES_OF_OPERATING} are allowed`,
    )
  }
  if (pushLines > MOST_CODE_LINES_OF_PUSH)
    wrong.push(`push has ${pushLines} code lines, at most ${MOST_CODE_LINES_OF_PUSH} are allowed`)
  if (sharingLines > MOST_CODE_LINES_OF_SHARING) {
    wrong.push(`sharing has ${sharingLines} code lines, at most ${MOST_CODE_LINES_OF_SHARING} are allowed`)
  }
  for (const [folder, count] of folders) {
    if (count > MOST_FILES_OF_A_FOLDER)
      wrong.push(`${folder} has ${count} files, at most ${MOST_FILES_OF_A_FOLDER} are allowed`)
  }
  if (wrong.length === 0) return
  process.stderr.write(`${wrong.join('\n')}\n`)
  process.exitCode = 1
}

function section(title, lines) {
  process.stdout.write(`${title}\n${lines.map(line => `  ${line}\n`).join('')}\n`)
}

function showFunction({ lines, name, path, line }) {
  return `${pad(lines)}  ${name}  ${path}:${line}`
}

function showCircle(paths) {
  return `${paths.length} files: ${paths.map(path => relative(join(root, 'packages'), path)).join(', ')}`
}

function pad(number) {
  return String(number).padStart(4)
}

function filesOfFolders() {
  const counts = new Map()
  for (const { path } of files) {
    const folder = relative(root, dirname(path))
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts]
}

function linesOf(some) {
  return some.reduce((sum, { codeLines }) => sum + codeLines, 0)
}

/** Finds import cycles by Tarjan's algorithm. A file that imports itself is a cycle too. */
function circlesOf(owner) {
  const own = new Map(files.filter(file => file.owner === owner).map(file => [file.path, file]))
  const indexes = new Map()
  const lows = new Map()
  const stack = []
  const found = []
  const visit = path => {
    const index = indexes.size
    indexes.set(path, index)
    lows.set(path, index)
    stack.push(path)
    for (const next of own.get(path).imports) {
      if (!own.has(next)) continue
      if (!indexes.has(next)) visit(next)
      if (stack.includes(next)) lows.set(path, Math.min(lows.get(path), lows.get(next)))
    }
    if (lows.get(path) !== index) return
    const together = stack.splice(stack.indexOf(path))
    if (together.length > 1 || own.get(path).imports.includes(path)) found.push(together)
  }
  for (const path of own.keys()) if (!indexes.has(path)) visit(path)
  return found
}

/** Returns the names of the files on each level. Files in a cycle are on the same level. */
function levelsOf(own) {
  const byPath = new Map(own.map(file => [file.path, file]))
  const circleOf = new Map(circles.flatMap(circle => circle.map(path => [path, circle])))
  const known = new Map()
  const levelOf = path => {
    if (known.has(path)) return known.get(path)
    const together = circleOf.get(path) ?? [path]
    const below = together
      .flatMap(one => byPath.get(one).imports)
      .filter(one => byPath.has(one) && !together.includes(one))
    const level = 1 + Math.max(0, ...below.map(levelOf))
    for (const one of together) known.set(one, level)
    return level
  }
  for (const { path } of own) levelOf(path)
  return Array.from({ length: Math.max(...known.values()) }, (_, i) =>
    own
      .filter(({ path }) => known.get(path) === i + 1)
      .map(({ path }) => relative(sourcesOf('core'), path).replace(/\.ts$/, '')),
  )
}

function sourcesOf(owner) {
  return join(root, 'packages', owner, 'src')
}

function sourceFiles(folder) {
  return readdirSync(folder, { recursive: true })
    .filter(name => name.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(name))
    .sort()
    .map(name => join(folder, name))
}

function readSource(owner, path) {
  const text = readFileSync(path, 'utf8')
  const { program, comments, errors } = parseSync(path, text, { lang: 'ts' })
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`)
  const lineAt = lineFinder(text)
  const file = { owner, path, imports: [], functions: [], codeLines: codeLines(text, comments) }
  walk(program, undefined, (node, parent) => {
    const specifier = specifierOf(node)
    if (specifier !== undefined) file.imports.push(...targetsOf(specifier, file))
    if (!FUNCTIONS.includes(node.type) || node.body?.type !== 'BlockStatement') return
    const start = NAMING.includes(parent?.type) ? parent : node
    const line = lineAt(start.start)
    file.functions.push({
      name: node.id?.name ?? nameOf(parent) ?? '(anonymous)',
      path: relative(root, path),
      line,
      lines: lineAt(node.end - 1) - line + 1,
    })
  })
  return file
}

function nameOf(parent) {
  if (!NAMING.includes(parent?.type)) return undefined
  const name = parent.key ?? parent.id
  return name.name ?? name.value ?? undefined
}

/** Returns the specifier of an import or export, including type imports and dynamic imports. */
function specifierOf({ type, source, argument }) {
  if (type === 'TSImportType') return (source ?? argument)?.value
  return /^Import(Declaration|Expression)$|^Export(Named|All)Declaration$/.test(type)
    ? (source?.value ?? undefined)
    : undefined
}

/** Returns the files of the same package that a specifier resolves to. */
function targetsOf(specifier, { owner, path }) {
  if (specifier.startsWith('.')) return [join(dirname(path), specifier)]
  return (BY_PLATFORM[specifier] ?? []).map(target => join(sourcesOf(owner), target))
}

function codeLines(text, comments) {
  let code = ''
  let from = 0
  for (const { start, end } of comments) {
    code += text.slice(from, start) + text.slice(start, end).replace(/[^\n]/g, '')
    from = end
  }
  return `${code}${text.slice(from)}`.split('\n').filter(line => line.trim() !== '').length
}

function lineFinder(text) {
  const ends = [...text.matchAll(/\n/g)].map(({ index }) => index)
  return at => ends.filter(end => end < at).length + 1
}

function walk(node, parent, visit) {
  if (typeof node.type === 'string') visit(node, parent)
  for (const value of Object.values(node)) {
    if (typeof value === 'object' && value !== null) {
      walk(value, Array.isArray(node) ? parent : node, visit)
    }
  }
}

/**
 * Writes docs/api for the web site, from the docstrings in the built declarations: one page for each package, and an
 * index. Fails if an exported name has no docstring; with `--check` it does only that.
 *
 * TypeDoc with its Markdown plugin reads worse: a page for each name (65 for core alone), options in alphabetical order,
 * and aliases such as `Duration` expanded. It also needs TypeScript 6 in addition to 7.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'rolldown/parseAst'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = join(root, 'docs/api')
const pages = new Map()
const undocumented = []

for (const folder of readdirSync(join(root, 'packages'))) {
  const path = join(root, 'packages', folder)
  const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  const entries = Object.entries(manifest.exports).filter(([, to]) => typeof to === 'object')
  if (entries.length === 0 || !entries.every(([, to]) => existsSync(join(path, to['ackhook-source']))))
    continue
  pages.set(`${folder}.md`, pageOf(manifest, entries, path))
}
pages.set('README.md', indexOf())

if (undocumented.length > 0) fail(`No docstring: ${undocumented.join(', ')}`)
if (!process.argv.includes('--check')) write()

function write() {
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  for (const [name, text] of pages) writeFileSync(join(target, name), text)
}

function pageOf(manifest, entries, path) {
  const lines = [`# ${manifest.name}`, '', `${manifest.description}.`]
  for (const [subpath, to] of entries) {
    const specifier = manifest.name + subpath.slice(1)
    const names = exportsOf(join(path, to.types))
    const values = names.filter(one => one.kind === 'value')
    const types = names.filter(one => one.kind === 'type')
    lines.push('', `## \`${specifier}\``)
    for (const one of [...values, ...types]) lines.push('', ...section(one, specifier))
  }
  return `${lines.join('\n')}\n`
}

function section({ name, from, text, comment }, specifier) {
  const heading = `### ${name}`
  if (from !== undefined) return [heading, '', `Same as in \`${from}\`.`]
  const { prose, example } = readComment(comment)
  if (prose === '') undocumented.push(`${specifier} ${name}`)
  const lines = [heading]
  if (prose !== '') lines.push('', prose)
  lines.push('', '```ts', text, '```')
  if (example !== '') lines.push('', 'Example:', '', '```ts', example, '```')
  return lines
}

/** Returns an entry point's exports with their declarations, in alphabetical order. */
function exportsOf(entry) {
  const found = []
  for (const statement of parse(entry).body) {
    if (statement.type !== 'ExportNamedDeclaration') continue
    for (const { local, exported, exportKind } of statement.specifiers) {
      const source = statement.source.value
      const about = source.startsWith('.')
        ? declarationOf(join(dirname(entry), source.replace(/\.ts$/, '.d.ts')), local.name)
        : { from: source }
      const isType = statement.exportKind === 'type' || exportKind === 'type'
      found.push({ name: exported.name, kind: isType ? 'type' : 'value', ...about })
    }
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}

function declarationOf(file, name) {
  const { body, source } = parse(file)
  const locals = new Map(
    body
      .filter(({ type }) => type === 'TSInterfaceDeclaration' || type === 'TSTypeAliasDeclaration')
      .map(statement => [nameOf(statement), textOf(statement, source)]),
  )
  for (const statement of body) {
    if (nameOf(statement) === name) {
      const text = withLocals(textOf(statement, source), locals)
      return { text, comment: commentBefore(source, statement.start) }
    }
    const passed = statement.specifiers?.find(one => one.exported?.name === name)
    if (passed && statement.source?.value.startsWith('.')) {
      return declarationOf(
        join(dirname(file), statement.source.value.replace(/\.ts$/, '.d.ts')),
        passed.local.name,
      )
    }
  }
  return fail(`${file} does not declare ${name}`)
}

function nameOf(statement) {
  const declared = statement.declaration ?? statement
  return declared.id?.name ?? declared.declarations?.[0]?.id.name
}

function textOf(statement, source) {
  return source.slice((statement.declaration ?? statement).start, statement.end).replace(/^declare /, '')
}

/** Appends the unexported types that a declaration refers to, which have no section of their own. */
function withLocals(text, locals) {
  for (const [name, local] of locals) {
    if (!new RegExp(`\\b${name}\\b`).test(text)) continue
    locals.delete(name)
    return withLocals(`${text}\n\n${local}`, locals)
  }
  return text
}

function parse(file) {
  const source = readFileSync(file, 'utf8')
  return { body: parseAst(source, { lang: 'dts' }).body, source }
}

function commentBefore(source, at) {
  const before = source.slice(0, at).trimEnd()
  if (!before.endsWith('*/')) return ''
  const comment = before.slice(before.lastIndexOf('/**'))
  return comment.startsWith('/**') ? comment : ''
}

function readComment(comment) {
  const text = comment
    .replace(/^\/\*\*|\*\/$/g, '')
    .split('\n')
    .map(line => line.replace(/^\s*\* ?/, ''))
    .join('\n')
    .replace(/\{@link ([\w.]+)\}/g, '`$1`')
    .trim()
  const [prose = '', example = ''] = text.split(/^@example\n?/m)
  return { prose: prose.replace(/^@param (\w+) /gm, '- `$1`: ').trim(), example: example.trim() }
}

function indexOf() {
  const rows = [...pages].map(
    ([name, text]) => `| [${/^# (.*)/.exec(text)[1]}](${name}) | ${text.split('\n')[2]} |`,
  )
  const lines = [
    '# API reference',
    '',
    'Generated from the docstrings.',
    '',
    '| package | |',
    '| --- | --- |',
    ...rows,
  ]
  return `${lines.join('\n')}\n`
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

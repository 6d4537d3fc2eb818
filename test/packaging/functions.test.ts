import { readFileSync } from 'node:fs'
import { parseSync } from 'rolldown/utils'
import { expect, it } from 'vitest'
import { filesUnder, ROOT } from '../support/workspace-packages.ts'

const MOST_LINES = 60
const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']
/** Nodes that name a function and start before it. */
const NAMING = ['MethodDefinition', 'Property', 'PropertyDefinition', 'VariableDeclarator']

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly body?: { readonly type?: string }
}

it('no function is longer than 60 lines', () => {
  const sources = filesUnder(`${ROOT}packages/`).filter(file =>
    /^[\w-]+\/src\/.*(?<!\.test|\.test-d)\.ts$/.test(file),
  )
  expect(sources.length).toBeGreaterThan(300)
  const long = sources.flatMap(file => longFunctions(readFileSync(`${ROOT}packages/${file}`, 'utf8'), file))
  expect(long).toEqual([])
})

it('finds a function of 61 lines, and not one of 60', () => {
  const withLines = (count: number) => `const one = () => {\n${'call()\n'.repeat(count - 2)}}\n`
  expect(longFunctions(withLines(60), 'a.ts')).toEqual([])
  expect(longFunctions(withLines(61), 'a.ts')).toEqual(['a.ts:1 has 61 lines'])
})

function longFunctions(text: string, file: string): readonly string[] {
  const long: string[] = []
  walk(parseSync(file, text, { lang: 'ts' }).program as unknown as Node, undefined, (node, parent) => {
    if (!FUNCTIONS.includes(node.type) || node.body?.type !== 'BlockStatement') return
    const start = parent !== undefined && NAMING.includes(parent.type) ? parent : node
    const first = lineAt(text, start.start)
    const lines = lineAt(text, node.end - 1) - first + 1
    if (lines > MOST_LINES) long.push(`${file}:${first} has ${lines} lines`)
  })
  return long
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}

function walk(
  node: Node,
  parent: Node | undefined,
  visit: (node: Node, parent: Node | undefined) => void,
): void {
  if (typeof node.type === 'string') visit(node, parent)
  for (const value of Object.values(node)) {
    if (typeof value === 'object' && value !== null) walk(value, Array.isArray(node) ? parent : node, visit)
  }
}

import { existsSync, readFileSync } from 'node:fs'
import { filesUnder, ROOT, workspacePackages } from '../support/workspace-packages.ts'

/** One fenced block of TypeScript or JavaScript in a document. */
export interface Block {
  /** Path of the document from the root. */
  readonly doc: string
  /** Line of the opening fence, from 1. */
  readonly line: number
  readonly language: 'ts' | 'js'
  readonly code: string
  /**
   * Kind from the comment before the block. `server`: listens and has its route at /webhooks. `fetch`: exports a request
   * handler. `event`: the same, with the request in an object. `module` (without a comment): must not throw when imported.
   */
  readonly run: 'server' | 'fetch' | 'event' | 'module' | 'none'
  readonly compiled: boolean
  /** Reason for not compiling or not running it. */
  readonly reason: string | undefined
}

const FENCE = /^```(\w*)[^\n]*\n(.*?)^```$/gms
const COMMENT = /<!-- (run: (?<run>server|fetch|event)|not (?<not>run|compiled): (?<reason>[^\n]+)) -->\n+$/

/** Returns every block of every document for users. */
export function allBlocks(): readonly Block[] {
  return documents().flatMap(blocksOf)
}

/** Returns the blocks whose packages already exist. */
export function readyBlocks(): readonly Block[] {
  const ready = workspacePackages().map(one => one.manifest.name)
  return allBlocks().filter(one => importedPackages(one.code).every(name => ready.includes(name)))
}

const ROOT_PAGES = [
  'README.md',
  'AGENTS.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'packages/core/skills/ackhook/SKILL.md',
]

export function documents(): readonly string[] {
  const inDocs = filesUnder(`${ROOT}docs`)
    .filter(file => file.endsWith('.md') && !/^(api|packages)\//.test(file))
    .map(file => `docs/${file}`)
  const readmes = workspacePackages().map(one => `packages/${one.folder}/README.md`)
  return [...ROOT_PAGES, 'examples/README.md', ...inDocs, ...readmes].filter(file =>
    existsSync(`${ROOT}${file}`),
  )
}

function blocksOf(doc: string): readonly Block[] {
  const text = readFileSync(`${ROOT}${doc}`, 'utf8')
  return [...text.matchAll(FENCE)].flatMap(match => {
    const language = LANGUAGES[match[1] as keyof typeof LANGUAGES]
    if (language === undefined) return []
    const before = text.slice(0, match.index)
    const about = COMMENT.exec(before)?.groups ?? {}
    const run = about['not'] === undefined ? (about['run'] ?? 'module') : 'none'
    return [
      {
        doc,
        line: before.split('\n').length,
        language,
        code: match[2] ?? '',
        run: run as Block['run'],
        compiled: about['not'] !== 'compiled',
        reason: about['reason'],
      },
    ]
  })
}

const LANGUAGES = { ts: 'ts', typescript: 'ts', js: 'js', mjs: 'js', javascript: 'js' } as const

/** Returns the names of our packages that a block imports. */
function importedPackages(code: string): readonly string[] {
  return [...code.matchAll(/from '(@ackhook\/[\w-]+|ackhook)(?:\/[\w-]+)?'/g)].map(match => match[1] ?? '')
}

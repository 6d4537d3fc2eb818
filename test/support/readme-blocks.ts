import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A fenced block in a README after `<!-- test: <name> [flag] [key=value] -->`. */
export interface ReadmeBlock {
  readonly language: string
  readonly text: string
  /** Flags after the name: `file=app.js` gives `{ file: 'app.js' }`, `background` gives `{ background: '' }`. */
  readonly flags: Readonly<Record<string, string>>
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MARKED = /<!-- test: ([\w-]+)((?: [\w./=-]+)*) -->\s*\n(?:<!-- [^\n]+ -->\n)?```(\w+)\n([\s\S]*?)\n```/g

/** Returns a file's marked blocks, in order. `path` is relative to the repository's root. */
export function readmeBlocks(path: string, name: string): readonly ReadmeBlock[] {
  const text = readFileSync(`${ROOT}${path}`, 'utf8')
  return [...text.matchAll(MARKED)]
    .filter(match => match[1] === name)
    .map(([, , flags = '', language = '', block = '']) => ({
      language,
      text: block,
      flags: Object.fromEntries(
        flags
          .split(' ')
          .filter(Boolean)
          .map(flag => flag.split('=') as [string, string?])
          .map(([key, value = '']) => [key, value]),
      ),
    }))
}

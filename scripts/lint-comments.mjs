/**
 * `node scripts/lint-comments.mjs` fails if a comment begins with a relative pronoun or a preposition. A comment begins
 * with a noun or a third-person verb: "Returns whether …", "Size of …".
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const WORDS = 'What|Whether|Whose|Which|Who|Whom|Where|Of|By|With|Without|To|As|Not|Than'
/** Matches a bad start of a block comment, on its first or second line, or of a run of `//` lines. */
const START = new RegExp(`^[ \\t]*(?:/\\*\\*(?:[ \\t]*\\n[ \\t]*\\*)?|//) (${WORDS})\\b`, 'gm')

const faults = files().flatMap(file => {
  const text = readFileSync(`${root}${file}`, 'utf8')
  return [...text.matchAll(START)]
    .filter(match => !continues(text, match.index))
    .map(match => `${file}:${text.slice(0, match.index).split('\n').length} begins with "${match[1]}"`)
})
if (faults.length > 0) {
  process.stderr.write(`${faults.join('\n')}\nBegin a comment with a noun or a third-person verb.\n`)
  process.exitCode = 1
}

function files() {
  const packages = readdirSync(`${root}packages`)
  return [...packages.map(name => `packages/${name}/src`), 'ui/src', 'scripts'].flatMap(folder =>
    readdirSync(`${root}${folder}`, { recursive: true })
      .filter(file => /\.(tsx?|mjs)$/.test(file))
      .map(file => `${folder}/${file}`),
  )
}

/** Returns whether the previous line is a `//` comment too. */
function continues(text, index) {
  const before = text.slice(0, index).split('\n').at(-2) ?? ''
  return text.slice(index).trimStart().startsWith('//') && before.trimStart().startsWith('//')
}

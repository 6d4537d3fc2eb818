/**
 * `node scripts/lint-prose.mjs [files]` checks the documentation's English: repeated words and wrong articles, by
 * retext's own rules, and habits that make a text read like a translation. It ignores code.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import remarkRetext from 'remark-retext'
import retextEnglish from 'retext-english'
import indefiniteArticle from 'retext-indefinite-article'
import repeatedWords from 'retext-repeated-words'
import { unified } from 'unified'
import { VFile } from 'vfile'

const root = fileURLToPath(new URL('..', import.meta.url))
const LONGEST_IN_A_TABLE = 20
/** The one page that lists the platform's gaps. */
const GAPS = 'docs/reference/the-contract.md'

/** Pattern of a sentence, and the advice. */
const HABITS = [
  [/^Where\b[^?]*, /, 'begin with "if" or "when"'],
  [/^(What|Whatever|Whoever|Which)\b[^?]*[.;]$/, 'name the subject: "events that wait", not "what waits"'],
  [
    /\bwhat (is|was|are|waits?|runs?|ran|arrives?|remains?|fails?) (left|there|accepted|handled)\b/i,
    'name the thing',
  ],
  [
    /\bthe (log|README|clock|settings|rights|port|schema) of (your|the|this|its)\b/i,
    'write "your app\'s log"',
  ],
  [/\b(is|are|be) away\b/, 'write "is down" or "has disappeared"'],
  [
    /\b(knows?|is told|are told|learns?) (of|about|nothing)\b/,
    'programs read, receive and find; people know',
  ],
  [/\b(is|are|be|being) answered\b/, 'write "gets" or "the reply is"'],
  [/\banswers (with|to)?\s?(\d|`|one|a\b|neither)/, 'write "returns"'],
  [/\ball the same\b/, 'write "anyway" or "still"'],
  [/\bas it stands\b|\bstands? (for|above|below|beside)\b/, 'write "is", "means" or "follows"'],
  [/\bof whom\b|\bof whose\b|\bby which\b|\bwith which\b/, 'use two sentences'],
]

/** A retext rule that checks every sentence. */
function habits() {
  return (tree, file) => {
    for (const sentence of nodesOf(tree, 'SentenceNode')) {
      const text = textOf(sentence).replace(/\s+/g, ' ').trim()
      for (const [pattern, advice] of HABITS)
        if (pattern.test(text)) file.message(`${advice}: “${text.slice(0, 90)}”`, sentence)
    }
  }
}

/** A remark rule that checks every table cell. */
function shortCells() {
  return (tree, file) => {
    for (const cell of nodesOf(tree, 'tableCell')) {
      for (const sentence of textOf(cell).split(/[.:;!?](?=\s|$)/)) {
        const words = sentence.split(/\s+/).filter(word => /\w/.test(word)).length
        if (words > LONGEST_IN_A_TABLE)
          file.message(`${words} words in a cell: “${sentence.trim().slice(0, 60)}”`, cell)
      }
    }
  }
}

/** A remark rule: only one page lists what the platform has not published. */
function oneListOfGaps() {
  return (tree, file) => {
    if (file.path === GAPS) return
    for (const paragraph of [...nodesOf(tree, 'paragraph'), ...nodesOf(tree, 'tableCell')])
      if (/\bnot (yet )?published\b/i.test(textOf(paragraph).replace(/\s+/g, ' ')))
        file.message(`link to ${GAPS}#what-is-not-published instead`, paragraph)
  }
}

const english = unified().use(retextEnglish).use(repeatedWords).use(indefiniteArticle).use(habits)
const processor = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(shortCells)
  .use(oneListOfGaps)
  .use(remarkRetext, english)

let count = 0
const given = process.argv.slice(2)
for (const path of given.length > 0 ? given : pages()) {
  count += await report(path)
}
if (count > 0) {
  process.stderr.write(`${count} sentences to rewrite\n`)
  process.exitCode = 1
}

async function report(path) {
  const file = new VFile({ path, value: readFileSync(`${root}${path}`, 'utf8') })
  await processor.run(processor.parse(file), file)
  for (const { line, reason } of file.messages) process.stderr.write(`${path}:${line} ${reason}\n`)
  return file.messages.length
}

function pages() {
  const ours = folder =>
    readdirSync(`${root}${folder}`, { recursive: true })
      .filter(file => file.endsWith('.md') && !file.startsWith('api/') && !file.includes('node_modules'))
      .map(file => `${folder}/${file}`)
  const readmes = readdirSync(`${root}packages`).map(folder => `packages/${folder}/README.md`)
  return [
    'README.md',
    'CONTRIBUTING.md',
    'ARCHITECTURE.md',
    'SECURITY.md',
    'examples/README.md',
    ...ours('docs'),
    ...readmes,
  ]
}

function* nodesOf(node, type) {
  if (node.type === type) yield node
  for (const child of node.children ?? []) yield* nodesOf(child, type)
}

function textOf(node) {
  return node.value ?? (node.children ?? []).map(textOf).join('')
}

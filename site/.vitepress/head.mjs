import { readFileSync } from 'node:fs'

export const SITE = 'https://ackhook.github.io/ackhook/'
const LONGEST = 160

/** Returns what a page is about, for search engines: its first sentences, or one for a list of exports. */
export function descriptionOf(file, path) {
  const text = readFileSync(file, 'utf8').replace(/^---\n.*?\n---\n/s, '')
  if (path.startsWith('api/')) return `Exports of ${titleOf(text)}, with types, promises and errors.`
  const paragraph = text
    .replace(/```.*?```/gs, '')
    .replace(/<!--.*?-->/gs, '')
    .split(/\n{2,}/)
    .find(one => /^\s*[\w`*![]/.test(one) && !/^\s*(?:\d+\. |\* |Until )/.test(one))
  return shorten(plain(paragraph ?? titleOf(text)))
}

/** Returns the elements by which other sites show a link to the page. */
export function headOf({ pageData, title, description }) {
  const address = SITE + pageData.relativePath.replace(/(?:(^|\/)index)?\.md$/, '$1')
  const property = (name, content) => ['meta', { property: name, content }]
  return [
    ['link', { rel: 'canonical', href: address }],
    property('og:type', 'website'),
    property('og:site_name', 'Ackhook'),
    property('og:title', title),
    property('og:description', description),
    property('og:url', address),
    property('og:image', `${SITE}og.png`),
    property('og:image:alt', 'Ackhook receives webhooks in your Express, Fastify or Hono app'),
    ['meta', { name: 'twitter:card', content: 'summary_large_image' }],
  ]
}

function titleOf(text) {
  return plain(/^# (.+)$/m.exec(text)?.[1] ?? '')
}

function plain(markdown) {
  return markdown
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Keeps whole sentences, or whole words of the first one. */
function shorten(text) {
  const sentences = text.match(/.*?[.!?](?= |$)/g) ?? [text]
  let result = ''
  for (const one of sentences) {
    if ((result + one).length > LONGEST) break
    result += one
  }
  return result === '' ? `${text.slice(0, LONGEST - 1).replace(/\W+\S*$/, '')}…` : result.trim()
}

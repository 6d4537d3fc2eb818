// Vite options for building the pages, and for serving them during development.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('.', import.meta.url))

/** Source of the reply codes that a page explains. */
export const ERRORS = fileURLToPath(new URL('../docs/errors.md', import.meta.url))

export function pageOptions(page) {
  return {
    root: `${root}src/${page}`,
    configFile: false,
    // Relative addresses work behind any prefix.
    base: './',
    plugins: [virtualModules()],
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  }
}

/** Creates the plugin for modules generated from other parts of the repository. */
function virtualModules() {
  const sources = { 'virtual:reply-codes': replyCodes, 'virtual:event-types': eventTypes }
  return {
    name: 'virtual-modules',
    resolveId: id => (id in sources ? `\0${id}` : undefined),
    load: id => sources[id.slice(1)]?.(),
  }
}

/** Generates a module with the cause and fix of each refusal, from docs/errors.md. */
function replyCodes() {
  const rows = readFileSync(ERRORS, 'utf8').matchAll(/^\| `(\w+)` \| (\d{3})[^|]*\| ([^|]+) \| ([^|]+) \|$/gm)
  const codes = [...rows].map(([, code, , cause, fix]) => [code, { cause: plain(cause), fix: plain(fix) }])
  if (codes.length === 0) throw new Error('docs/errors.md has no table of codes')
  return `export const codes = ${JSON.stringify(Object.fromEntries(codes))}`
}

/** Generates a module with the types of `ackhook send --list` and their examples. */
async function eventTypes() {
  const { EVENT_TYPES } = await import('@ackhook/testing/spi')
  return `export const EVENT_TYPES = ${JSON.stringify(EVENT_TYPES)}`
}

/** Converts Markdown to text. */
function plain(markdown) {
  return markdown.replaceAll('`', '').replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
}

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Packages in reading order. A package that is not named here comes last. */
const ORDER = [
  'core',
  'express',
  'fastify',
  'hono',
  'nestjs',
  'sqlite',
  'bullmq',
  'redis',
  'sql',
  'cloudflare',
  'sqs',
  'testing',
  'emulator',
  'cli',
  'dashboard',
  'opentelemetry',
  'mcp',
  'contract',
  'create-ackhook',
  'client',
  'conformance',
]

/** Copies each package's README to `docs/packages`, where the site builds it as a page. Git ignores that folder. */
export function copyReadmes(root) {
  const target = join(root, 'docs/packages')
  const texts = new Map(
    readdirSync(join(root, 'packages'))
      .map(folder => [folder, join(root, 'packages', folder, 'README.md')])
      .filter(([, file]) => existsSync(file))
      .map(([folder, file]) => [`${folder}.md`, readFileSync(file, 'utf8')]),
  )
  mkdirSync(target, { recursive: true })
  for (const file of readdirSync(target)) if (!texts.has(file)) rmSync(join(target, file))
  // A file that has not changed stays as it is: the development server would load it again.
  for (const [file, text] of texts) {
    const path = join(target, file)
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text)
  }
}

export function byReadingOrder(one, other) {
  const [a, b] = [one, other].map(file => ORDER.indexOf(file.replace(/\.md$/, '')))
  return (a === -1 ? ORDER.length : a) - (b === -1 ? ORDER.length : b) || (one < other ? -1 : 1)
}

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { isPrinted } from '../../packages/core/src/verify/printed-secrets.ts'
import { ROOT } from '../support/workspace-packages.ts'

/** What people copy from: pages, examples, help and docstrings, and what our generators write. */
const READ = [
  '*.md',
  'docs',
  'site',
  'examples',
  'packages/*/README.md',
  'packages/*/skills/*',
  'packages/*/src/*',
  'ui/src',
]
/** The published suites are tests too. */
const IS_TEST = /\.test(-d)?\.ts$|^packages\/conformance\/src\//

/** Ways in which a text says that something is a secret. */
const FORMS: readonly RegExp[] = [
  // SIGNING_SECRET=…, SIGNING_SECRET: …, process.env['SIGNING_SECRET'] ?? '…', $env:SIGNING_SECRET = '…'
  /SECRET(?:_\d)?['"\]]*\s*(?:=|:|\?\?|\|\|)\s*["'`]?([\w.+/-]{16,})(?![\w(])/g,
  // secret: '…', "secret": "…", const secret = '…', secret=…
  /\bsecret\w*["']?\s*[:=]\s*["'`]([^"'`\s$]{16,})["'`]/gi,
  /\bsecret=([\w.+/-]{16,})(?![\w(])/g,
  /\bsecret `([^`\s]{16,})`/gi,
  /\b(whsec_[\w+/=-]{10,})/g,
]
/** Names of variables, which hold a secret that nobody prints. */
const IS_NAME = /^(?:process\.env|env|import\.meta)\b|^[A-Z_\d]+$/

function printedSecrets(): ReadonlyMap<string, string> {
  const files = execFileSync('git', ['ls-files', '--', ...READ], { cwd: ROOT, encoding: 'utf8' }).split('\n')
  const found = new Map<string, string>()
  for (const file of files.filter(
    name => /\.(md|[mc]?[jt]sx?|json|ya?ml|html|toml|sh)$/.test(name) && !IS_TEST.test(name),
  )) {
    const text = readFileSync(`${ROOT}${file}`, 'utf8')
    for (const form of FORMS)
      for (const [, secret = ''] of text.matchAll(form)) if (!IS_NAME.test(secret)) found.set(secret, file)
  }
  return found
}

it('a receiver knows every secret that the documentation, the examples and the generators print', () => {
  const found = printedSecrets()
  expect([...found.keys()]).toContain('only-for-trying-it-out')
  expect([...found].filter(([secret]) => !isPrinted(secret))).toEqual([])
})

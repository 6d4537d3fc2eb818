/**
 * Compares the packed packages of two checkouts, after `npm run pack` in both, and prints a table in Markdown:
 * `node scripts/compare-sizes.mjs ../before`.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [other] = process.argv.slice(2)
if (other === undefined) throw new Error('give the folder of the other checkout')
const before = sizesIn(join(other, 'packed'))
const after = sizesIn(fileURLToPath(new URL('../packed', import.meta.url)))
const names = [...new Set([...before.keys(), ...after.keys()])].sort()
const rows = names.filter(name => before.get(name) !== after.get(name)).map(rowOf)
process.stdout.write(
  rows.length === 0
    ? 'No package changed its size.\n'
    : `| package | before | after | change |\n| --- | ---: | ---: | ---: |\n${rows.join('')}`,
)

/** Returns the bytes of each package's tarball, by the file's name without its version. */
function sizesIn(folder) {
  const files = readdirSync(folder).filter(file => file.endsWith('.tgz'))
  return new Map(files.map(file => [file.replace(/-\d[^-]*\.tgz$/, ''), statSync(join(folder, file)).size]))
}

function rowOf(name) {
  const [old, now] = [before.get(name), after.get(name)]
  const change =
    old === undefined || now === undefined
      ? ''
      : `${now > old ? '+' : ''}${(((now - old) / old) * 100).toFixed(1)} %`
  return `| ${name} | ${old ?? 'none'} | ${now ?? 'none'} | ${change} |\n`
}

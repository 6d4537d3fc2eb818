/** Writes the version of each package into its sources, where neither a bundle nor a Worker can read a manifest. */
import { readFileSync, writeFileSync } from 'node:fs'

const FILES = { core: 'src/lib/version.ts', opentelemetry: 'src/version.ts' }

for (const [name, path] of Object.entries(FILES)) {
  const folder = new URL(`../packages/${name}/`, import.meta.url)
  const { version } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'))
  const file = new URL(path, folder)
  writeFileSync(file, readFileSync(file, 'utf8').replace(/'[\d.]+[^']*'/, `'${version}'`))
}

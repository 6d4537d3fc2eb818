/** Writes the version of core into its sources, where neither a bundle nor a Worker can read a manifest. */
import { readFileSync, writeFileSync } from 'node:fs'

const core = new URL('../packages/core/', import.meta.url)
const { version } = JSON.parse(readFileSync(new URL('package.json', core), 'utf8'))
const file = new URL('src/lib/version.ts', core)
writeFileSync(file, readFileSync(file, 'utf8').replace(/'[\d.]+[^']*'/, `'${version}'`))

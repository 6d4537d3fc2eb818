import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

export const currentMajor = Number(process.versions.node.split('.')[0])

/** Returns the executable of a Node version: this one, or one installed with the measured libraries. */
export function findNode(major) {
  if (major === currentMajor) return process.execPath
  const name = `node${major}-${process.platform}-${process.arch}`
  try {
    return require.resolve(`${name}/package.json`).replace('package.json', 'bin/node')
  } catch {
    throw new Error(
      `There is no Node ${major} here for ${process.platform}-${process.arch} (bench/package.json installs it for Linux); run the benchmark with that version instead`,
    )
  }
}

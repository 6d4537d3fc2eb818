import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { arch, platform } from 'node:process'
import { ROOT } from '../support/workspace-packages.ts'

const INSTALLED = `${ROOT}test/runtimes/node_modules/`
const host = `${platform}-${arch}`
const PROGRAMS: Readonly<Record<string, string>> = {
  bun: `@oven/bun-${host.replace('arm64', 'aarch64')}/bin/bun`,
  bunx: `@oven/bun-${host.replace('arm64', 'aarch64')}/bin/bun`,
  deno: `@deno/${platform === 'linux' ? `${host}-glibc` : host}/deno`,
}

/** Package managers that are scripts, by the name of their command. */
const SCRIPTS: Readonly<Record<string, string>> = {
  pnpm: 'pnpm/bin/pnpm.mjs',
  yarn: '@yarnpkg/cli-dist/bin/yarn.js',
}

/** Creates a folder with the Bun, Deno, pnpm and Yarn that `test/runtimes` pins, under their own names. */
export function runtimePrograms(): string {
  install()
  const folder = `${INSTALLED}.programs`
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const [name, file] of Object.entries(PROGRAMS)) symlinkSync(`${INSTALLED}${file}`, `${folder}/${name}`)
  for (const [name, file] of Object.entries(SCRIPTS))
    writeFileSync(`${folder}/${name}`, `#!/bin/sh\nexec node "${INSTALLED}${file}" "$@"\n`, { mode: 0o755 })
  return folder
}

/** Returns the folder with another Node version that `test/runtimes` pins, such as 22 or 20.11. Linux only. */
export function nodePrograms(line: number): string {
  install()
  return `${INSTALLED}node${line}-${host}/bin`
}

function install(): void {
  if (!existsSync(INSTALLED)) execFileSync('npm', ['ci', '--silent'], { cwd: `${ROOT}test/runtimes` })
}

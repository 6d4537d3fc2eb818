import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { ROOT } from '../support/workspace-packages.ts'

/**
 * Compiles files, given by name, with the tests' settings, and returns the compiler's output: empty if there are no
 * errors. `folder` is one of the two that git ignores, and is rewritten.
 */
export function compileFiles(folder: string, files: ReadonlyMap<string, string>): Promise<string> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of files) writeFileSync(`${folder}/${name}`, text)
  const config = {
    extends: '../../../tsconfig.test.json',
    compilerOptions: {
      checkJs: true,
      moduleDetection: 'force',
      noUnusedLocals: false,
      noUnusedParameters: false,
    },
    include: ['*', '../ambient.d.ts'],
    exclude: [],
  }
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(config))
  return new Promise(resolve => {
    const args = [`${ROOT}node_modules/typescript/bin/tsc`, '-p', folder]
    execFile('node', args, { cwd: folder }, (_error, stdout, stderr) => resolve(stdout + stderr))
  })
}

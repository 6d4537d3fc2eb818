import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { withOwnDependencies, workspacePackages } from '../support/workspace-packages.ts'
import { run } from './run.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

describe.each(workspacePackages())('$manifest.name in an empty project', one => {
  const entries = Object.keys(one.manifest.exports ?? {})
    .filter(subpath => subpath !== './package.json')
    .map(subpath => one.manifest.name + subpath.slice(1))
    // Only the suites may need a test runner.
    .filter(specifier => !specifier.endsWith('-suite'))
    // A type-only package has nothing to import.
    .filter(specifier => specifier !== '@ackhook/core/planned-events')

  it('installs alone with its peers and can be imported and required', async () => {
    const project = emptyProject()
    const wanted = withOwnDependencies(one).map(each => each.manifest.name)
    const files = inject('tarballs')
      .filter(each => wanted.includes(each.name))
      .map(each => each.file)
    await run(
      'npm',
      ['install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', ...files],
      {
        cwd: project,
      },
    )

    for (const specifier of entries) {
      writeFileSync(
        join(project, 'esm.mjs'),
        `import * as all from '${specifier}'\nprocess.stdout.write(Object.keys(all).sort().join())`,
      )
      writeFileSync(
        join(project, 'cjs.cjs'),
        `const all = require('${specifier}')\nprocess.stdout.write(Object.keys(all).filter(name => name !== '__esModule' && name !== 'module.exports').sort().join())`,
      )
      const imported = await run('node', ['--throw-deprecation', 'esm.mjs'], { cwd: project })
      expect(imported).not.toBe('')
      expect(await run('node', ['--throw-deprecation', 'cjs.cjs'], { cwd: project })).toBe(imported)
    }
  })
})

function emptyProject(): string {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'ackhook-project-')))
  folders.push(project)
  writeFileSync(join(project, 'package.json'), '{ "name": "empty", "private": true }\n')
  return project
}

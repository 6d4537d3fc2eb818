import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ROOT } from '../support/workspace-packages.ts'

interface Entry {
  readonly link?: boolean
  readonly integrity?: string
  readonly resolved?: string
}

it.each([
  '',
  'bench/',
  'site/',
  'test/databases/',
  'test/frameworks/',
  'test/frameworks/cloudflare/',
  'test/frameworks/nitro/2/',
  'test/frameworks/nitro/3/',
  'test/hosts/loggers/',
  'test/postgres/',
  'test/runtimes/',
])('%spackage-lock.json has integrity values but no addresses of packages', folder => {
  const lock = JSON.parse(readFileSync(`${ROOT}${folder}package-lock.json`, 'utf8')) as {
    readonly packages: Readonly<Record<string, Entry>>
  }
  const installed = Object.entries(lock.packages).filter(
    ([path, { link }]) => path.includes('node_modules/') && link !== true,
  )
  expect(installed.length).toBeGreaterThan(5)
  const faulty = installed.filter(
    ([, { integrity, resolved }]) => integrity === undefined || resolved?.startsWith('http'),
  )
  expect(faulty.map(([path]) => path)).toEqual([])
})

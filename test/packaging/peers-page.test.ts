import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ROOT, type WorkspacePackage, workspacePackages } from '../support/workspace-packages.ts'
import { BY_DATABASES, PAIRINGS } from './peer-versions.ts'

interface Peer {
  readonly folder: string
  readonly owner: string
  readonly name: string
  readonly range: string
}

/** Peers of others, by our package. */
const PEERS = workspacePackages().flatMap(({ folder, manifest }: WorkspacePackage): Peer[] =>
  Object.entries(manifest.peerDependencies ?? {})
    .filter(([name]) => !name.startsWith('@ackhook/'))
    .map(([name, range]) => ({ folder, owner: manifest.name, name, range })),
)

it('the page about peers lists each peer of each package with its range', () => {
  const page = readFileSync(`${ROOT}docs/reference/peers.md`, 'utf8')
  const rows = Array.from(page.matchAll(/^\| `(.+?)` \| `(.+?)` \| `(.+?)` \|/gm), ([, ...cells]) =>
    cells.join(' '),
  )
  // A bar would end the cell.
  expect(rows.sort()).toEqual(
    PEERS.map(({ owner, name, range }) => `${owner} ${name} ${range.replaceAll(' || ', ', ')}`).sort(),
  )
})

it.each(
  // The command uses the driver through the emulator.
  PEERS.filter(({ owner, name }) => owner !== 'ackhook' && !BY_DATABASES.includes(name)),
)('test:peers runs $owner with the oldest and the newest $name', ({ folder, name, range }) => {
  const tried = PAIRINGS.flatMap(([program, peers]) =>
    program.split(' ')[0] === folder ? (peers[name] ?? []) : [],
  )
  const [, floor = ''] = /(\d+\.\d+\.\d+)/.exec(range) ?? []
  const newest = range.includes('<1.0.0') ? '0' : range.split('||').at(-1)?.replace(/^\D*/, '').split('.')[0]
  expect(tried).toEqual(expect.arrayContaining([floor, newest]))
})

import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { circleIn } from '../support/import-circle.ts'
import { filesUnder, ROOT } from '../support/workspace-packages.ts'
import { ROOMS } from './rooms.ts'

describe.each(Object.entries(ROOMS))('the rooms of %s', (folder, rooms) => {
  const source = `${ROOT}packages/${folder}/src/`
  const files = filesUnder(source).filter(file => file.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(file))

  it('are all listed', () => {
    const found = new Set(files.map(roomOf))
    expect([...found].sort()).toEqual(Object.keys(rooms).sort())
  })

  it.each(files)('%s imports only from rooms that its own room allows', file => {
    const room = roomOf(file)
    for (const imported of importedFiles(source, file)) {
      const target = roomOf(imported)
      if (target !== room)
        expect([file, imported, rooms[room]?.includes(target)]).toEqual([file, imported, true])
    }
  })

  it('have no import cycle', () => {
    expect(circleIn(files, file => importedFiles(source, file))).toBeUndefined()
  })
})

it('finds a circle', () => {
  const imports: Record<string, string[]> = { a: ['b'], b: ['c'], c: ['b'] }
  expect(circleIn(Object.keys(imports), file => imports[file] ?? [])).toEqual(['b', 'c', 'b'])
})

function roomOf(file: string): string {
  return dirname(file)
}

/** Returns imported files of the same package, relative to its sources. `#platform` and the like count as interfaces. */
function importedFiles(source: string, file: string): readonly string[] {
  const text = readFileSync(source + file, 'utf8')
  const specifiers = [...text.matchAll(/^(?:import|export)\b[^'"]*?from '([^']+)'/gm)].map(
    match => match[1] ?? '',
  )
  return specifiers.flatMap(specifier => {
    if (specifier === '#platform') return ['platform/platform.ts']
    if (specifier === '#scheduler') return ['inbox/memory/scheduler.ts']
    if (specifier === '#evaluation') return ['receiver/evaluation.ts']
    if (specifier === '#collect-body') return ['node/collect-with-raw-body.ts']
    return specifier.startsWith('.') ? [normalize(join(dirname(file), specifier))] : []
  })
}

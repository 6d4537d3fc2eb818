import { expect, it } from 'vitest'
import { resolveEmulator } from './emulator-options.ts'

const NAMES = [
  ...['port', 'host', 'token', 'allowedHosts', 'data', 'seed', 'clock', 'to', 'secret', 'allowTargets'],
  ...[
    'httpsOnly',
    'delivery',
    'faults',
    'rotationOverlap',
    'health',
    'retention',
    'messageReply',
    'page',
    'logger',
  ],
]
const GROUPS = {
  health: ['window', 'minAttempts', 'share'],
  retention: ['deliveries', 'bytes', 'age', 'undelivered'],
  messageReply: ['status', 'body'],
}

it.each(NAMES)('refuses null for %s', option => {
  expect(() => resolveEmulator({ [option]: null } as never)).toThrow(expect.objectContaining({ option }))
})

it.each(Object.entries(GROUPS).flatMap(([group, names]) => names.map(name => [group, name])))(
  'refuses null for %s.%s',
  (group, name) => {
    const option = `${group}.${name}`
    expect(() => resolveEmulator({ [group as string]: { [name as string]: null } } as never)).toThrow(
      expect.objectContaining({ option }),
    )
  },
)

it('treats undefined as omitted', () => {
  const all = Object.fromEntries(
    NAMES.filter(name => name !== 'data' && name !== 'token').map(name => [name, undefined]),
  )
  expect(resolveEmulator(all)).toEqual(resolveEmulator({}))
  const nothing = (names: readonly string[]) => Object.fromEntries(names.map(name => [name, undefined]))
  const groups = Object.fromEntries(Object.entries(GROUPS).map(([group, names]) => [group, nothing(names)]))
  const faults = nothing(['duplicate', 'delay', 'tamper', 'staleBy'])
  const delivery = nothing(['attempts', 'timeout', 'concurrency', 'header', 'fields'])
  expect({ ...resolveEmulator({ ...groups, faults, delivery }), faults: {} }).toEqual(resolveEmulator({}))
})

it.each(['data', 'token'])('refuses %s from an unset variable', option => {
  expect(() => resolveEmulator({ [option]: undefined })).toThrow(expect.objectContaining({ option }))
})

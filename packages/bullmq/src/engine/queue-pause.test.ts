import { expect, test } from 'vitest'
import { PauseSwitch, readPause } from './queue-pause.ts'

test.each([
  ['no pause', null, null, { pause: undefined, isStale: false }],
  ['our own', '1', 'own 17', { pause: { since: 17, isOwn: true }, isStale: false }],
  ['one made elsewhere', '1', 'seen 17', { pause: { since: 17, isOwn: false }, isStale: false }],
  ['one not noticed before', '1', null, { pause: { since: 99, isOwn: false }, isStale: false }],
  ['one whose record was damaged', '1', '?', { pause: { since: 99, isOwn: false }, isStale: false }],
  ['one that ended elsewhere', null, 'own 17', { pause: undefined, isStale: true }],
])('%s is read', (_, flag, record, expected) => {
  expect(readPause(flag, record, 99)).toEqual(expected)
})

test('a process that notices a pause before its record is written does not take it for one made elsewhere', async () => {
  let flag: string | null = null
  let record: string | null = null
  const noticed: Promise<unknown>[] = []
  const pauses = new PauseSwitch(
    {
      isPaused: async () => flag !== null,
      pause: async () => {
        flag = '1'
        // Another process reads now, and writes what it has noticed only after the record.
        noticed.push(pauses.paused())
      },
      resume: async () => {
        flag = null
      },
    },
    {
      read: async () => [flag, record],
      write: async value => {
        record = value
      },
      add: async value => {
        await new Promise(resolve => setImmediate(resolve))
        record ??= value
      },
      forget: async () => {
        record = null
      },
    },
  )
  await pauses.pause()
  await Promise.all(noticed)
  expect((await pauses.paused())?.isOwn).toBe(true)
})

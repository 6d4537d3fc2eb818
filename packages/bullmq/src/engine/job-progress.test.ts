import { expect, test } from 'vitest'
import { crashesOf, endedProgress, formatProgress, readProgress } from './job-progress.ts'

/** Takes a job again and again. Each take begins or not, and its process dies. Returns the crashes counted in the end. */
function crashesAfter(takes: readonly ('begins' | 'does not begin')[]): number {
  const job = { stalledCounter: 0, progress: 0 as unknown }
  for (const take of takes) {
    const begun = { crashes: crashesOf(job), stalls: job.stalledCounter }
    if (take === 'begins' && job.stalledCounter > 0) job.progress = JSON.parse(formatProgress({ begun }))
    job.stalledCounter++
  }
  return crashesOf(job)
}

test.each([
  ['no attempt', [], 0],
  ['one that began', ['begins'], 1],
  ['five that began', ['begins', 'begins', 'begins', 'begins', 'begins'], 5],
  ['one of which nothing is known', ['does not begin'], 1],
  ['ten that did not begin', Array.from({ length: 10 }, () => 'does not begin' as const), 1],
  ['two that began among others', ['begins', 'does not begin', 'begins', 'does not begin'], 2],
] as const)(
  'after %s the crashes are counted that are known to be some, and the first stall',
  (_, takes, crashes) => {
    expect(crashesAfter(takes)).toBe(crashes)
  },
)

test('a process that dies before an attempt begins, after a postponement, costs no crash, however often', () => {
  const job = { stalledCounter: 1, progress: { begun: { crashes: 1, stalls: 1 } } as unknown }
  for (let round = 0; round < 5; round++) {
    job.progress = JSON.parse(formatProgress(endedProgress(readProgress(job.progress))))
    job.stalledCounter++
    expect(crashesOf(job)).toBe(1)
    job.progress = { begun: { crashes: crashesOf(job), stalls: job.stalledCounter } }
  }
  expect(crashesOf({ ...job, stalledCounter: job.stalledCounter + 1 })).toBe(2)
})

test('the record of an attempt from before the count was reset does not count', () => {
  const progress = { begun: { crashes: 4, stalls: 4 } }
  expect(crashesOf({ stalledCounter: 0, progress })).toBe(0)
  expect(crashesOf({ stalledCounter: 3, progress })).toBe(1)
})

test('an attempt that is taken again without a stall, as after a postponement, keeps its crashes', () => {
  expect(crashesOf({ stalledCounter: 3, progress: { begun: { crashes: 2, stalls: 3 } } })).toBe(2)
})

test.each([
  ['nothing', {}, '{}'],
  ['a postponement', { postponed: 12 }, '{"postponed":12}'],
  [
    'both',
    { begun: { crashes: 1, stalls: 2 }, postponed: 12 },
    '{"postponed":12,"begun":{"crashes":1,"stalls":2}}',
  ],
])('progress with %s is read as it was written', (_, progress, text) => {
  expect(formatProgress(progress)).toBe(text)
  expect(readProgress(JSON.parse(text))).toEqual(progress)
})

test.each([0, 40, null, 'half', { begun: 3 }, { begun: { crashes: '1' }, postponed: 'x' }])(
  "progress of another kind, such as %j, says nothing about the event's attempts",
  progress => {
    expect(readProgress(progress)).toEqual({})
  },
)

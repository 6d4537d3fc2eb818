import { expect, test } from 'vitest'
import { numberedQueue } from './queue-record.ts'

test.each([
  [
    { queue: 'hooks', prefix: undefined },
    { queue: 'hooks.3', prefix: undefined },
  ],
  [
    { queue: 'hooks', prefix: 'app' },
    { queue: 'hooks.3', prefix: 'app' },
  ],
  [
    { queue: 'hooks', prefix: '{app}' },
    { queue: 'hooks', prefix: '{app.3}' },
  ],
  [
    { queue: '{hooks}', prefix: 'app' },
    { queue: '{hooks.3}', prefix: 'app' },
  ],
  [
    { queue: '{hooks}', prefix: 'a{b}c' },
    { queue: '{hooks}', prefix: 'a{b.3}c' },
  ],
])('the number of a queue is in the hash tag of %o if there is one', (place, third) => {
  expect(numberedQueue(place, 1)).toEqual(place)
  expect(numberedQueue(place, 3)).toEqual(third)
})

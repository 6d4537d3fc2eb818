import { expect, it } from 'vitest'
import { isNewer, TESTED, whyUntested } from './tested.ts'

it('tells a version that is newer than the tested one', () => {
  expect([isNewer('0.46.0', '0.45'), isNewer('1.0.0-beta.1', '0.45')]).toEqual([true, true])
  expect([isNewer('0.45.9', '0.45'), isNewer('8.3.3', '8.23')]).toEqual([false, false])
})

it('says nothing of the tested versions, of unknown libraries and of what it cannot find', () => {
  for (const library of [...Object.keys(TESTED), 'unknown', undefined])
    expect(whyUntested(library)).toBeUndefined()
})

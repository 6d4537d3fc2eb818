import { expect, it } from 'vitest'
import { recordingLogger } from '../../../../test/support/receiving.ts'
import { Observers } from './observers.ts'

const received = { kind: 'received' } as const

it('has nothing to call while nothing listens', () => {
  const observers = new Observers(undefined, recordingLogger())
  expect(observers.observe).toBeUndefined()
  const leave = observers.add(() => {})
  expect(observers.observe).toBeDefined()
  leave()
  expect(observers.observe).toBeUndefined()
})

it('calls each observer even if one throws', () => {
  const logger = recordingLogger()
  const seen: string[] = []
  const observers = new Observers(() => {
    throw new Error('broken')
  }, logger)
  observers.add(() => seen.push('second'))
  observers.add(() => seen.push('third'))
  observers.observe?.(received)
  expect(seen).toEqual(['second', 'third'])
  expect(logger.lines).toHaveLength(1)
})

it('removes an observer that unsubscribed, once, and keeps the others', () => {
  const seen: string[] = []
  const observers = new Observers(() => seen.push('option'), recordingLogger())
  const leave = observers.add(() => seen.push('page'))
  leave()
  leave()
  observers.observe?.(received)
  expect(seen).toEqual(['option'])
})

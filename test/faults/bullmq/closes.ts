import { createReceiver, type Observation, type ReceiverOptions } from '@ackhook/core'
import { expect, test } from 'vitest'
import { unique } from '../../../packages/bullmq/test/parts.ts'
import { random } from '../../support/random.ts'
import { eventBody, recordingLogger, SECRET, signedRequest } from '../../support/receiving.ts'

/** A place that stores events or their ids. */
export interface Place {
  /** Returns options for a receiver with its own data there. Called for each round. */
  options(): Pick<ReceiverOptions<Record<never, never>, undefined>, 'inbox' | 'store'>
  stop(): Promise<void>
}

export type Places = readonly (readonly [name: string, start: () => Promise<Place>])[]

/** Declares tests that close an inbox under load many times: work that a close cuts off must not be reported. */
export function closes(rounds: number, places: Places): void {
  test.each(places)(
    `none of ${rounds} closes under load on %s is reported as an outage`,
    { timeout: 900_000 },
    async (_, start) => {
      const place = await start()
      const wrong: string[] = []
      try {
        for (let round = 0; round < rounds; round++) wrong.push(...(await closeUnderLoad(place, round)))
        expect(wrong).toEqual([])
      } finally {
        await place.stop()
      }
    },
  )
}

/** Closes a receiver under load, and returns the errors that it reported. */
async function closeUnderLoad(place: Place, round: number): Promise<readonly string[]> {
  const wrong: string[] = []
  const logger = recordingLogger()
  const options = place.options()
  // Counts notices during the close too.
  const observe = (one: Observation) => {
    if (one.kind === 'store_down') wrong.push(`${one.operation}: ${one.error}`)
  }
  const receiver = createReceiver({ secret: SECRET, concurrency: 20, logger, observe, ...options })
  receiver.on('*', () => new Promise(resolve => setTimeout(resolve, random() * 20)))
  await receiver.start()
  let isClosing = false
  const deliveries = Array.from({ length: 5 }, async () => {
    while (!isClosing) await receiver.handle(signedRequest(eventBody({ id: unique('evt_') })))
  })
  // Varies the time, so that timers are at another point in each round: the inbox checks other processes every 500 ms.
  await new Promise(resolve => setTimeout(resolve, 490 + (round % 12) * 2))
  isClosing = true
  const questions = [receiver.stats(), receiver.deadLetters.list(), options.inbox?.processes?.()]
  await receiver.close({ timeout: '5s' })
  await Promise.allSettled([...deliveries, ...questions])
  return [...wrong, ...logger.lines.filter(({ level }) => level === 'error').map(({ message }) => message)]
}

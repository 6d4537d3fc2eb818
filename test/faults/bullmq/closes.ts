import { createReceiver, type Observation, type ReceiverOptions } from '@ackhook/core'
import { expect, test } from 'vitest'
import { unique } from '../../../packages/bullmq/test/parts.ts'
import { eventBody, recordingLogger, SECRET, signedRequest } from '../../support/receiving.ts'

/** Where events or their ids are kept. */
export interface Place {
  /** Options of a receiver with a place of its own there. Called for each round. */
  options(): Pick<ReceiverOptions<Record<never, never>, undefined>, 'inbox' | 'store'>
  stop(): Promise<void>
}

export type Places = readonly (readonly [name: string, start: () => Promise<Place>])[]

/** Nothing is reported of an inbox that is closed under load, however often: each close ends what is under way then. */
export function closes(rounds: number, places: Places): void {
  test.each(places)(
    `of ${rounds} closes under load on %s none is reported as an outage`,
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

/** What was reported of one receiver. */
async function closeUnderLoad(place: Place, round: number): Promise<readonly string[]> {
  const wrong: string[] = []
  const logger = recordingLogger()
  const options = place.options()
  // A notice that comes during the close is one all the same.
  const observe = (one: Observation) => {
    if (one.kind === 'store_down') wrong.push(`${one.operation}: ${one.error}`)
  }
  const receiver = createReceiver({ secret: SECRET, concurrency: 20, logger, observe, ...options })
  receiver.on('*', () => new Promise(resolve => setTimeout(resolve, Math.random() * 20)))
  await receiver.start()
  let isClosing = false
  const deliveries = Array.from({ length: 5 }, async () => {
    while (!isClosing) await receiver.handle(signedRequest(eventBody({ id: unique('evt_') })))
  })
  // Its timers are at another place in each round: it looks at the other processes every 500 ms.
  await new Promise(resolve => setTimeout(resolve, 490 + (round % 12) * 2))
  isClosing = true
  const questions = [receiver.stats(), receiver.deadLetters.list(), options.inbox?.processes?.()]
  await receiver.close({ timeout: '5s' })
  await Promise.allSettled([...deliveries, ...questions])
  return [...wrong, ...logger.lines.filter(({ level }) => level === 'error').map(({ message }) => message)]
}

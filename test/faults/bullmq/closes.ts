import { createReceiver, type Observation } from '@ackhook/core'
import { expect, test } from 'vitest'
import { postgresEngine, redisEngine } from '../../../packages/bullmq/test/engines.ts'
import { unique } from '../../../packages/bullmq/test/parts.ts'
import { eventBody, recordingLogger, SECRET, signedRequest } from '../../support/receiving.ts'

/** Nothing is reported of an inbox that is closed under load, however often: each close ends what is under way then. */
export function closes(rounds: number): void {
  test.each([
    ['Redis', redisEngine],
    ['PostgreSQL', postgresEngine],
  ] as const)(
    `of ${rounds} closes under load on %s none is reported as an outage`,
    { timeout: 900_000 },
    async (_, start) => {
      const engine = await start()
      const wrong: string[] = []
      try {
        for (let round = 0; round < rounds; round++) {
          const logger = recordingLogger()
          const inbox = engine.inbox(unique('q'))
          // A notice that comes during the close is one all the same.
          const observe = (one: Observation) => {
            if (one.kind === 'store_down') wrong.push(`${one.operation}: ${one.error}`)
          }
          const receiver = createReceiver({ secret: SECRET, inbox, concurrency: 20, logger, observe })
          receiver.on('*', () => new Promise(resolve => setTimeout(resolve, Math.random() * 20)))
          await receiver.start()
          let isClosing = false
          const deliveries = Array.from({ length: 5 }, async () => {
            while (!isClosing) await receiver.handle(signedRequest(eventBody({ id: unique('evt_') })))
          })
          // Its timers are at another place in each round: it looks at the other processes every 500 ms.
          await new Promise(resolve => setTimeout(resolve, 490 + (round % 12) * 2))
          isClosing = true
          const questions = [receiver.stats(), receiver.deadLetters.list(), inbox.processes?.()]
          await receiver.close({ timeout: '5s' })
          await Promise.allSettled([...deliveries, ...questions])
          wrong.push(...logger.lines.filter(({ level }) => level === 'error').map(({ message }) => message))
        }
        expect(wrong).toEqual([])
      } finally {
        await engine.stop()
      }
    },
  )
}

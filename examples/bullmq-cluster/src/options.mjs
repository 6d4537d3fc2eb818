// @ts-check
import { bullmqInbox } from '@ackhook/bullmq'

/** What web and worker processes have in common. */
export function receiverOptions() {
  return {
    secret: process.env['SIGNING_SECRET'] ?? 'only-for-trying-it-out',
    // A killed worker's events go to another after one and a quarter of it. The default of 11 s suits most handlers.
    inbox: bullmqInbox({ connection: process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379', lease: '1s' }),
    logger: { info() {}, warn() {}, error() {} },
  }
}

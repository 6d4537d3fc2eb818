// @ts-check
import { bullmqInbox } from '@ackhook/bullmq'

/** Options shared by web and worker processes. */
export function receiverOptions() {
  return {
    secret: process.env['SIGNING_SECRET'] ?? 'only-for-trying-it-out',
    // A killed worker's events go to another after 1.25 leases. The default of 11 s suits most handlers.
    inbox: bullmqInbox({ connection: process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379', lease: '1s' }),
    logger: { info() {}, warn() {}, error() {} },
  }
}

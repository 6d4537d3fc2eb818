import type { Choices } from './choices.ts'

/** Code and packages for a durable inbox. */
interface DurableInbox {
  readonly statement: string
  /** Statements before the call. */
  readonly before: string
  readonly call: string
  readonly packages: readonly string[]
  readonly env: string
  /** Lines of a Dockerfile. */
  readonly image?: string
  readonly readme: string
}

/** Durable inboxes. The memory inbox is absent: it needs no code or packages. */
export const DURABLE_INBOXES: Readonly<Partial<Record<Choices['inbox'], DurableInbox>>> = {
  sqlite: {
    statement: "import { sqliteInbox } from '@ackhook/sqlite'",
    before: '',
    call: "sqliteInbox(process.env.INBOX_FILE ?? 'webhooks.db')",
    packages: ['@ackhook/sqlite'],
    env: '',
    // The file must outlive the container.
    image: 'RUN mkdir /data && chown node /data\nVOLUME /data\nENV INBOX_FILE=/data/webhooks.db\n',
    readme: 'Waiting events are stored in `webhooks.db` and survive a crash.',
  },
  bullmq: {
    statement: "import { bullmqInbox } from '@ackhook/bullmq'",
    before: "const connection = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'\n",
    call: 'bullmqInbox({ connection })',
    packages: ['@ackhook/bullmq', 'bullmq', 'ioredis'],
    env: 'REDIS_URL=redis://127.0.0.1:6379\n',
    readme: 'Waiting events are stored in Redis. To start it: `docker run --rm -p 6379:6379 redis`.',
  },
}

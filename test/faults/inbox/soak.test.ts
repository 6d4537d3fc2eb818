import { expect, it } from 'vitest'
import { measureSoak } from '../../../bench/subjects/soak.mjs'

/** A minute instead of an hour: `npm run bench -- soak --seconds 3600`. */
const SECONDS = 60
/** Wider than the benchmark's: a collection, or a vacuum, can fall into either quarter of so short a run. */
const FLAT = 1.25

// The soak itself counts exactly: it fails unless each acknowledged event is handled once.
it.each(['redisStore', 'sqliteInbox', 'bullmqInbox on Redis'] as const)(
  'neither the memory of the process nor what it stores grows at half of its load: %s',
  async inbox => {
    const { figures } = await measureSoak({ seconds: SECONDS, inboxes: [inbox] })
    expect(figures[inbox]?.rss).toBeLessThan(FLAT)
    expect(figures[inbox]?.stored).toBeLessThan(FLAT)
  },
)

import { withDeadline } from '@ackhook/core'
import type { NewJob } from './event-job.ts'

/** Batches under way at one time: while they are, what arrives is collected for the next. */
const UNDER_WAY = 2
const MOST_JOBS = 100
/** So that a batch of large bodies is no burden to the server: 4 million characters. */
const MOST_TEXT = 4_000_000

interface Waiting {
  readonly job: NewJob
  readonly since: number
  readonly resolve: (isOwn: boolean) => void
  readonly reject: (error: unknown) => void
}

/**
 * Group commit: jobs that arrive together are added together, and share what the server has to do for each write
 * (on PostgreSQL a commit, on Redis the look whether an id is known). A job that arrives alone waits for nothing
 * but the end of this turn of the event loop. Each job gets its own answer, and its own failure.
 */
export function createBatches(
  add: (jobs: readonly NewJob[]) => readonly Promise<boolean>[],
  deadlineMs: number,
): (job: NewJob) => Promise<boolean> {
  const waiting: Waiting[] = []
  let underWay = 0
  let scheduled = false

  function schedule(): void {
    if (scheduled || underWay >= UNDER_WAY || waiting.length === 0) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      giveUp()
      if (waiting.length > 0) void send(take())
    })
  }

  async function send(batch: readonly Waiting[]): Promise<void> {
    underWay++
    schedule()
    try {
      const answers = add(batch.map(({ job }) => job))
      for (const [i, { resolve, reject }] of batch.entries()) answers[i]!.then(resolve, reject)
      // A server that stands still must not hold up what arrives after that.
      await withDeadline(Promise.allSettled(answers), { operation: 'inbox.accept', ms: deadlineMs })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    underWay--
    schedule()
  }

  /** Who waited for so long was refused already, and will come again. */
  function giveUp(): void {
    const oldest = performance.now() - deadlineMs
    while (waiting.length > 0 && waiting[0]!.since < oldest) {
      waiting.shift()!.reject(new Error(`not added within ${deadlineMs} ms`))
    }
  }

  function take(): readonly Waiting[] {
    let count = 0
    for (let text = 0; count < waiting.length && count < MOST_JOBS && text < MOST_TEXT; count++) {
      text += waiting[count]!.job.data.body.length
    }
    return waiting.splice(0, count)
  }

  return job =>
    new Promise((resolve, reject) => {
      waiting.push({ job, since: performance.now(), resolve, reject })
      schedule()
    })
}

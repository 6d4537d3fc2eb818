/**
 * What this package keeps in BullMQ's `progress` of a job: dashboards show it, and both engines return it with the job.
 */
export interface JobProgress {
  /** Routing token of the last postponement. */
  readonly postponed?: number
  /** Last attempt that recorded its begin. An attempt does so only if BullMQ has counted a stall of the job before. */
  readonly begun?: BegunAttempt
}

/** The counts of a job when an attempt at it began. */
export interface BegunAttempt {
  readonly crashes: number
  /** BullMQ's count of stalls. */
  readonly stalls: number
  /** The attempt ended without its process: a later stall is not a crash of it. */
  readonly ended?: true
}

interface StalledJob {
  readonly stalledCounter: number
  readonly progress: unknown
}

export function readProgress(progress: unknown): JobProgress {
  const { postponed, begun } = Object(progress) as Readonly<Record<keyof JobProgress, unknown>>
  const { crashes, stalls, ended } = Object(begun) as Readonly<Record<keyof BegunAttempt, unknown>>
  const isBegun = typeof crashes === 'number' && typeof stalls === 'number'
  return {
    ...(typeof postponed === 'number' && { postponed }),
    ...(isBegun && { begun: { crashes, stalls, ...(ended === true && { ended }) } }),
  }
}

/** Formats the progress of a job. `begun` comes last, where `FRESH_PROGRESS` of the Redis scripts finds it. */
export function formatProgress({ postponed, begun }: JobProgress): string {
  return JSON.stringify({ postponed, begun: begun && recordOf(begun) })
}

function recordOf({ crashes, stalls, ended }: BegunAttempt): BegunAttempt {
  return { crashes, stalls, ...(ended && { ended }) }
}

/** Returns the progress of a job whose attempt ends without a result: only an attempt that begins later can crash. */
export function endedProgress({ begun, ...others }: JobProgress): JobProgress {
  return { ...others, ...(begun && { begun: { ...begun, ended: true } }) }
}

/**
 * Returns the crashes of a job in a row: attempts that began and ended with their process. BullMQ counts every lock that
 * expires, even if no handler had begun. Nothing is written when a first attempt begins, so the first stall counts as a
 * crash. From then on an attempt records its begin, and a stall without such a record counts as none.
 */
export function crashesOf({ stalledCounter, progress }: StalledJob): number {
  const { begun } = readProgress(progress)
  // The record of an earlier series: BullMQ's count was reset since.
  if (begun === undefined || begun.stalls > stalledCounter) return Math.min(stalledCounter, 1)
  return begun.crashes + Number(!begun.ended && stalledCounter > begun.stalls)
}

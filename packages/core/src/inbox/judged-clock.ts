import type { StoreNotice } from './dedupe-store.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** Time that the store has not seen. Beyond it, the clock is wrong, or nobody has used the store for that long. */
const MOST_AHEAD_MS = 7 * DAY_MS
/** Most by which the clock may move against the monotonic one between two readings, and times of the store may be ahead. */
const MOST_MOVED_MS = MINUTE_MS
const DOUBT_MS = DAY_MS

/** A reading, in whole milliseconds since the epoch. */
export interface JudgedTime {
  /** Time with which to stamp what is stored: never earlier than the newest time of the store, so that nothing seems older than it is. */
  readonly stamp: number
  /** Time with which to compare the end of a retention: never later than is certain. */
  readonly judged: number
  /** Whether nothing may be deleted by its age. */
  readonly isInDoubt: boolean
}

interface ClockParts {
  readonly wall?: () => number
  readonly monotonic?: () => number
  /** Whose data the clock decides about, for the log. Default: the inbox. */
  readonly place?: string
}

interface Doubt {
  /** Time without the step of the clock, at `since`. */
  readonly expected: number
  /** Monotonic milliseconds. */
  readonly since: number
  readonly newest: number | undefined
}

/**
 * The clock of a machine whose store has none, such as a file. It decides about data of other processes and of the time before it
 * was set, so a step of it, or a start far ahead of all that is stored, casts doubt on it for a day.
 */
export class JudgedClock {
  readonly #wall: () => number
  readonly #monotonic: () => number
  readonly #place: string
  #last: { readonly wall: number; readonly monotonic: number } | undefined
  #doubt: Doubt | undefined
  #isBehind = false
  #notices: StoreNotice[] = []

  constructor({ wall, monotonic, place }: ClockParts = {}) {
    this.#wall = wall ?? (() => Date.now())
    this.#monotonic = monotonic ?? (() => performance.now())
    this.#place = place ?? 'the inbox'
  }

  /** `newest`: the newest time of the store. Absent: it has none. */
  read(newest: number | undefined): JudgedTime {
    const [wall, monotonic, last] = [this.#wall(), this.#monotonic(), this.#last]
    this.#last = { wall, monotonic }
    if (last === undefined) this.#compare(wall, monotonic, newest)
    else {
      const expected = this.#expected(monotonic) ?? last.wall + monotonic - last.monotonic
      const movedMs = wall - last.wall - (monotonic - last.monotonic)
      if (Math.abs(movedMs) > MOST_MOVED_MS) {
        this.#doubt = { expected, since: monotonic, newest }
        this.#tell(`was set ${movedMs > 0 ? 'forward' : 'back'} by ${inWords(movedMs)}${this.#inDoubt}`)
      } else if (this.#doubt !== undefined && monotonic - this.#doubt.since >= DOUBT_MS) {
        const { newest: before } = this.#doubt
        this.#doubt = undefined
        // If others have written meanwhile, their clock still differs; if not, nobody had used the store.
        if (newest !== before) this.#compare(wall, monotonic, newest)
      }
    }
    return this.#judge(wall, monotonic, newest)
  }

  /** What an operator should know since the last call. */
  takeNotices(): readonly StoreNotice[] {
    const notices = this.#notices
    if (notices.length > 0) this.#notices = []
    return notices
  }

  #compare(wall: number, monotonic: number, newest: number | undefined): void {
    if (newest === undefined || wall - newest <= MOST_AHEAD_MS) return
    this.#doubt = { expected: newest, since: monotonic, newest }
    this.#tell(`is ${inWords(wall - newest)} past the newest time in ${this.#place}${this.#inDoubt}`)
  }

  #expected(monotonic: number): number | undefined {
    return this.#doubt && this.#doubt.expected + monotonic - this.#doubt.since
  }

  #judge(wall: number, monotonic: number, newest: number | undefined): JudgedTime {
    const expected = this.#expected(monotonic)
    const isBehind = newest !== undefined && newest - wall > MOST_MOVED_MS
    if (isBehind && !this.#isBehind && expected === undefined)
      this.#tell(
        `is ${inWords(newest - wall)} behind the newest time in ${this.#place}: what is stored until it gets there is kept for that much longer. Check the clocks of this machine's processes.`,
      )
    this.#isBehind = isBehind
    return {
      stamp: Math.ceil(Math.max(wall, newest ?? wall, expected ?? wall)),
      judged: Math.floor(Math.min(wall, expected ?? wall)),
      isInDoubt: expected !== undefined,
    }
  }

  get #inDoubt(): string {
    return `: for 24 hours nothing is deleted by its age, neither dead letters nor remembered ids. Correct the clock if it is wrong. If the machine was asleep, or nobody has used ${this.#place} for that long, nothing has to be done.`
  }

  #tell(what: string): void {
    this.#notices.push({ code: 'clock_differs', message: `This process's clock ${what}` })
  }
}

function inWords(ms: number): string {
  const minutes = Math.round(Math.abs(ms) / MINUTE_MS)
  if (minutes < 120) return `${minutes} minutes`
  return minutes < 2880 ? `${Math.round(minutes / 60)} hours` : `${Math.round(minutes / 1440)} days`
}

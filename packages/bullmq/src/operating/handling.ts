import { ConfigurationError, type HandlingControl } from '@ackhook/core'
import { resumeCommand } from '@ackhook/core/sharing'
import { PauseLog, type ProcessingPolicy, pausedType } from '@ackhook/core/spi'
import type { Engine } from '../engine/engine.ts'
import type { InboxView } from '../engine/event-board.ts'

const CANNOT_PAUSE_TYPES =
  'BullMQ pauses a whole queue: its workers take the next event, whatever its type. Pause all events, or give this type a receiver and a queue of its own'

const POLL_MS = 1000

type Ask = <T>(operation: string, question: (engine: Engine) => Promise<T>) => Promise<T>

/** Pauses and resumes the inbox: BullMQ's own pause of its queue, as queue dashboards show and set it. */
export function createHandling(ask: Ask): HandlingControl {
  return {
    cannotPauseTypes: CANNOT_PAUSE_TYPES,
    async pause(type) {
      if (pausedType(type) !== undefined) throw new ConfigurationError('type', CANNOT_PAUSE_TYPES)
      return ask('pause', engine => engine.pause())
    },
    async resume(type) {
      return pausedType(type) === undefined && ask('resume', engine => engine.resume())
    },
    async paused() {
      const pause = await ask('paused', engine => engine.paused())
      return pause === undefined ? [] : [{ since: pause.since }]
    },
  }
}

/** Tells each pause that was made here or elsewhere with `handling.pause()`, and its end, once. */
export class PauseWatch {
  readonly #log: PauseLog
  #seenAt = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setInterval> | undefined

  /** @param place - Flags with which the command line finds the inbox, if it can. */
  constructor(
    { logger, observe }: Pick<ProcessingPolicy, 'logger' | 'observe'>,
    place: readonly string[] | undefined,
  ) {
    const resumeBy = place && ((type: string | undefined) => resumeCommand(place, type))
    this.#log = new PauseLog({ logger, observe, ...(resumeBy && { resumeBy }) })
  }

  /** Called with each view of the board. A process that shares its handlers reads one twice a second. */
  see({ pause }: InboxView): void {
    this.#seenAt = performance.now()
    this.#log.see(pause?.isOwn ? [{ since: pause.since }] : [])
  }

  /** Reads the board if nobody else does. */
  start({ board }: Pick<Engine, 'board'>): void {
    this.#timer = setInterval(async () => {
      if (performance.now() - this.#seenAt < 2 * POLL_MS) return
      // Other calls report an outage.
      const view = await board.read().catch(() => undefined)
      if (view !== undefined) this.see(view)
    }, POLL_MS)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

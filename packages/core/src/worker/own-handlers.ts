import { platform } from '#platform'
import type { HandlerSharing, HandlersOfAll, PublishedHandlers } from '../inbox/handler-board.ts'
import { VERSION } from '../lib/version.ts'
import type { HandlerRegistry } from './handler-registry.ts'

export interface OwnHandlersParts extends Pick<HandlerSharing, 'location' | 'namespace'> {
  readonly handlers: HandlerRegistry
  readonly clock: () => number
  readonly handlerWaitMs: number
}

/** What this process handles, and what it knows of the others once its inbox shares that. */
export class OwnHandlers implements HandlerSharing {
  readonly location: string | undefined
  readonly namespace: unknown
  /** Every attempt asks it, where there is one. */
  shared: HandlersOfAll | undefined
  readonly #parts: OwnHandlersParts
  #own: PublishedHandlers | undefined

  constructor(parts: OwnHandlersParts) {
    this.location = parts.location
    this.namespace = parts.namespace
    this.#parts = parts
  }

  /** Made by the first use, when the handlers are frozen. */
  get own(): PublishedHandlers {
    const { handlers, clock, handlerWaitMs } = this.#parts
    this.#own ??= {
      id: crypto.randomUUID(),
      process: platform.processName(),
      version: VERSION,
      startedAt: clock(),
      patterns: handlers.patterns(),
      onUnhandled: handlers.listeners.onUnhandled.length > 0,
      keepMs: handlerWaitMs,
    }
    return this.#own
  }

  async share(shared: HandlersOfAll): Promise<void> {
    this.shared?.stop()
    this.shared = shared
    await shared.begin()
  }
}

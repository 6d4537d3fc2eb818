import { platform } from '#platform'
import type { HandlerSharing, PresenceDirectory, PublishedHandlers, RouteOf } from '../inbox/presence.ts'
import { VERSION } from '../lib/version.ts'
import type { HandlerRegistry } from './handler-registry.ts'

export interface ReceiverHandlersParts extends Pick<HandlerSharing, 'location' | 'namespace'> {
  readonly handlers: HandlerRegistry
  readonly clock: () => number
  readonly handlerWaitMs: number
}

/** Patterns of this process, and other processes' once the inbox shares them. */
export class ReceiverHandlers implements HandlerSharing {
  readonly location: string | undefined
  readonly namespace: unknown
  directory: PresenceDirectory | undefined
  /** Consulted by every attempt once the inbox shares handlers. */
  route: RouteOf | undefined
  readonly #parts: ReceiverHandlersParts
  #published: PublishedHandlers | undefined

  constructor(parts: ReceiverHandlersParts) {
    this.location = parts.location
    this.namespace = parts.namespace
    this.#parts = parts
  }

  /** Created at first use, when the handlers are frozen. */
  get published(): PublishedHandlers {
    const { handlers, clock, handlerWaitMs } = this.#parts
    this.#published ??= {
      id: crypto.randomUUID(),
      process: platform.processName(),
      version: VERSION,
      startedAt: clock(),
      patterns: handlers.patterns(),
      onUnhandled: handlers.listeners.onUnhandled.length > 0,
      keepMs: handlerWaitMs,
    }
    return this.#published
  }

  async share(directory: PresenceDirectory): Promise<void> {
    this.directory?.stop()
    this.directory = directory
    this.route = (type, routingToken) => directory.routeOf(type, routingToken)
    await directory.begin()
  }
}

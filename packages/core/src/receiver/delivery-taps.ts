import type { DeliveryTap, TappedDelivery } from '../events/decode-event.ts'
import { onceAMinute } from '../lib/once-a-minute.ts'
import type { Logger } from '../observe/logger.ts'

/** Tools that see each genuine delivery, such as a recorder. */
export class DeliveryTaps {
  readonly #failed: (reason: string, err: unknown) => void
  #all: readonly DeliveryTap[] = []
  /** Calls all taps, and never throws. `undefined` while there are none: then a delivery costs nothing more. */
  tap: DeliveryTap | undefined

  constructor(logger: Logger) {
    this.#failed = onceAMinute((err, more) => logger.error({ err }, `A delivery tap threw${more}.`))
  }

  /** Returns a function that removes it. */
  add(tap: DeliveryTap): () => void {
    this.#set([...this.#all, tap])
    return () => this.#set(this.#all.filter(one => one !== tap))
  }

  #set(all: readonly DeliveryTap[]): void {
    this.#all = all
    this.tap = all.length === 0 ? undefined : delivery => this.#callAll(delivery)
  }

  #callAll(delivery: TappedDelivery): void {
    for (const tap of this.#all) {
      try {
        tap(delivery)
      } catch (err) {
        this.#failed('tap', err)
      }
    }
  }
}

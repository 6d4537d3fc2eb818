/**
 * Limits the attempts that this process runs at a time. Others wait: an attempt whose lease was lost may still run when the
 * next event is taken.
 */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  get isFree(): boolean {
    return this.#free > 0
  }

  /** Resolves when an attempt may begin. The returned function ends its turn. */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>(begin => this.#waiting.push(begin))
    return () => {
      const begin = this.#waiting.shift()
      if (begin === undefined) this.#free++
      else begin()
    }
  }

  /** Lets all waiting attempts begin, since they have been withdrawn. */
  open(): void {
    this.#free = Number.POSITIVE_INFINITY
    for (const begin of this.#waiting.splice(0)) begin()
  }
}

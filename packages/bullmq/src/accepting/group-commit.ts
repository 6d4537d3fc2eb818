import { withDeadline } from '@ackhook/core/spi'

/** Batches sent at a time. Further items are collected for the next batch. */
const MAX_BATCHES = 2
const MAX_ITEMS = 100
/** Characters in one batch, so that several large bodies do not overload the server. */
const MAX_TEXT = 4_000_000

interface Waiting<Item, Answer> {
  readonly item: Item
  readonly since: number
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

export interface GroupCommitOptions<Item, Answer> {
  /** Sends several items at once. Each has its own result or failure. */
  readonly send: (items: readonly Item[]) => readonly Promise<Answer>[]
  /** Returns the item's length in characters. */
  readonly lengthOf?: (item: Item) => number
  readonly deadlineMs: number
}

/**
 * Sends items that arrive together in one statement, so that they share its cost: a commit on PostgreSQL, the lookup of
 * known ids on Redis. An item that arrives while nothing is being sent is sent at once.
 */
export class GroupCommit<Item, Answer> {
  readonly #send: GroupCommitOptions<Item, Answer>['send']
  readonly #lengthOf: (item: Item) => number
  readonly #deadlineMs: number
  /** Oldest first. */
  readonly #waiting: Waiting<Item, Answer>[] = []
  #batches = 0
  #singleUnderWay = false
  #scheduled = false

  constructor({ send, lengthOf = () => 0, deadlineMs }: GroupCommitOptions<Item, Answer>) {
    this.#send = send
    this.#lengthOf = lengthOf
    this.#deadlineMs = deadlineMs
  }

  submit(item: Item): Promise<Answer> {
    const isIdle = !this.#singleUnderWay && this.#batches === 0 && this.#waiting.length === 0
    if (isIdle) return this.#sendSingle(item)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, since: performance.now(), resolve, reject })
      this.#schedule()
    })
  }

  /**
   * Sends one item without a batch's turn, timer and promises. It does not count as a batch, so it blocks no other item
   * if the server never replies. The caller sets its deadline. perf: note 22.
   */
  #sendSingle(item: Item): Promise<Answer> {
    const answer = this.#send([item])[0]!
    const ended = () => {
      this.#singleUnderWay = false
    }
    this.#singleUnderWay = true
    answer.then(ended, ended)
    return answer
  }

  #schedule(): void {
    if (this.#scheduled || this.#batches >= MAX_BATCHES || this.#waiting.length === 0) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#rejectExpired()
      if (this.#waiting.length > 0) void this.#sendBatch(this.#takeBatch())
    })
  }

  /** Rejects items whose callers were already refused: their senders will repeat the deliveries. */
  #rejectExpired(): void {
    const oldest = performance.now() - this.#deadlineMs
    while (this.#waiting.length > 0 && this.#waiting[0]!.since < oldest) {
      this.#waiting.shift()!.reject(new Error(`not sent within ${this.#deadlineMs} ms`))
    }
  }

  #takeBatch(): readonly Waiting<Item, Answer>[] {
    let count = 0
    for (let text = 0; count < this.#waiting.length && count < MAX_ITEMS && text < MAX_TEXT; count++) {
      text += this.#lengthOf(this.#waiting[count]!.item)
    }
    return this.#waiting.splice(0, count)
  }

  async #sendBatch(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    this.#batches++
    this.#schedule()
    try {
      const answers = this.#send(batch.map(({ item }) => item))
      for (const [i, { resolve, reject }] of batch.entries()) answers[i]!.then(resolve, reject)
      // A server that hangs must not block the batches after this one.
      await withDeadline(Promise.allSettled(answers), { operation: 'inbox.accept', ms: this.#deadlineMs })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    this.#batches--
    this.#schedule()
  }
}

import { wait } from '../letters/wait.ts'
import type { Batch, BatchList } from '../protocol/protocol.ts'
import { Refused } from '../protocol/refused.ts'
import type { Outcome } from '../protocol/verbs.ts'
import { type Call, type Progress, perform, type Verb } from '../verbs/verb.ts'

/** Batches shown after their end. */
const KEPT = 20
const MAX_RUNNING = 10
/** A short batch has ended by the time of the reply, and a longer one has begun. */
const REPLY_MS = 400

/** The verbs of this process that take their time. They go on without the page that started them, and end with the process. */
export class Batches {
  /** Newest first. */
  #all: readonly Running[] = []
  #process: string | undefined

  list(): BatchList {
    return { process: this.#id(), batches: this.#all.map(batch => batch.view()) }
  }

  /** Starts a verb, and waits a moment for its end. Rejects if it cannot begin. */
  async start(verb: Verb, call: Call<unknown>): Promise<Batch> {
    if (this.#all.filter(({ isOver }) => !isOver).length >= MAX_RUNNING)
      throw new Refused('busy', `${MAX_RUNNING} batches run in this process: stop one, or wait.`)
    const { name: by } = call.caller
    const about = { id: crypto.randomUUID(), process: this.#id(), startedAt: Date.now() }
    const batch = new Running(verb, { ...about, ...(by !== undefined && { by }) })
    const ended = batch.run(call)
    await Promise.race([ended, batch.hasBegun])
    this.#all = [batch, ...this.#all].filter((one, at) => at < KEPT || !one.isOver)
    await Promise.race([ended, wait(REPLY_MS)])
    return batch.view()
  }

  stop(id: string): Batch | undefined {
    const batch = this.#all.find(one => one.id === id)
    batch?.stop()
    return batch?.view()
  }

  /** Created late, because Workers forbid random values while a module loads. */
  #id(): string {
    this.#process ??= crypto.randomUUID()
    return this.#process
  }
}

type About = Pick<Batch, 'id' | 'process' | 'startedAt' | 'by'>

/** One verb that runs. */
class Running {
  readonly hasBegun: Promise<void>
  readonly #verb: Verb
  readonly #about: About
  readonly #stop = new AbortController()
  #begin = (): void => {}
  #progress: Progress | undefined
  #outcome: Outcome | undefined
  #error: string | undefined

  constructor(verb: Verb, about: About) {
    this.#verb = verb
    this.#about = about
    this.hasBegun = new Promise(resolve => {
      this.#begin = resolve
    })
  }

  get id(): string {
    return this.#about.id
  }

  get isOver(): boolean {
    return this.#outcome !== undefined || this.#error !== undefined
  }

  stop(): void {
    if (!this.isOver) this.#stop.abort()
  }

  /** Rejects if it cannot begin. A later failure is its result. */
  async run(call: Call<unknown>): Promise<void> {
    try {
      this.#outcome = await perform(this.#verb, {
        ...call,
        signal: this.#stop.signal,
        progress: progress => {
          this.#progress = progress
          this.#begin()
        },
      })
    } catch (cause) {
      if (this.#progress === undefined) throw cause
      this.#error = cause instanceof Error ? cause.message : String(cause)
    }
  }

  view(): Batch {
    const { total, changed = 0, missed = 0, state = 'changing', error, fates } = this.#progress ?? {}
    const failure = this.#error ?? error
    return {
      ...this.#about,
      verb: this.#verb.name,
      words: this.#verb.words,
      ...(total !== undefined && { total }),
      ...{ changed, missed, state: this.isOver ? 'over' : state },
      ...(this.#stop.signal.aborted && { isStopped: true }),
      ...(failure !== undefined && { error: failure }),
      ...(fates !== undefined && { fates }),
      ...(this.#outcome !== undefined && { outcome: this.#outcome }),
    }
  }
}

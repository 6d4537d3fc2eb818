import type { Inbox } from '../inbox/inbox.ts'
import type { HandlerSharing } from '../inbox/presence.ts'
import type { Logger } from '../observe/logger.ts'

/** The part of V8's `CallSite` that tells where a receiver was created. */
interface CallSite {
  getFunctionName(): string | null
  getScriptNameOrSourceURL(): string | null
  getScriptHash(): string
  getLineNumber(): number | null
  getColumnNumber(): number | null
  getEnclosingLineNumber?(): number | null
  getEnclosingColumnNumber?(): number | null
}

interface Place {
  /** Script as the runtime names it, with the query of this evaluation. */
  readonly script: string
  /** Hash of the script's text: another one means that the file was edited. */
  readonly hash: string
  readonly line: number
  readonly column: number
}

/** One evaluation of a module, as far as its receivers tell. */
interface Evaluation extends Place {
  readonly number: number
  /** True until the code that created the receiver has run to its end, for example a loop. */
  isRunning: boolean
  /** Number of receivers that it has created at each location of events. */
  readonly counts: Map<string, number>
}

/** A receiver that has started. Copies of this package share these, so the shape must not change. */
export interface Replaceable<Next = unknown> {
  /** Drains, and passes later deliveries to `next`. Returns `false` if there is nothing to pass on. */
  handOver(next: Next): boolean
}

interface Running {
  readonly file: string
  readonly location: string
  readonly evaluation: number
  /** What two receivers of one module have in common, if a bundler has put it into two bundles. */
  readonly likeness: string | undefined
  readonly startedAt: number
  readonly receiver: Replaceable
}

interface Registry {
  evaluations: number
  readonly files: Map<string, Evaluation>
  readonly running: Map<string, Running>
}

const MAX_FRAMES = 30
const RECEIVERS = Symbol.for('ackhook.receivers')

/** Shared by every copy of this package: hot reloading may evaluate Ackhook itself again. */
function registry(): Registry {
  const shared = globalThis as { [key: symbol]: Registry | undefined }
  shared[RECEIVERS] ??= { evaluations: 0, files: new Map(), running: new Map() }
  return shared[RECEIVERS]
}

/**
 * The module whose top level has created a receiver, and which evaluation of that module it was. With hot reloading, the
 * receiver of an earlier evaluation would keep running code from before the edit on the same file or queue.
 */
export class CreatedBy {
  readonly #file: string
  readonly #key: string
  readonly #evaluation: number
  readonly #location: string
  readonly #logger: Logger

  private constructor(place: Place, location: string, logger: Logger) {
    const evaluation = evaluationOf(place)
    const count = (evaluation.counts.get(location) ?? 0) + 1
    evaluation.counts.set(location, count)
    this.#file = fileOf(place.script)
    // The first receiver of a location replaces the first one, the second one the second.
    this.#key = JSON.stringify([this.#file, location, count])
    this.#evaluation = evaluation.number
    this.#location = location
    this.#logger = logger
  }

  /**
   * Returns `undefined` for an inbox whose events no other receiver can reach, within a function, and where stacks do not
   * tell. `create` is the function whose caller counts.
   */
  static find(
    create: (...args: never[]) => unknown,
    { durable, location }: Pick<Inbox, 'durable' | 'location'>,
    logger: Logger,
  ): CreatedBy | undefined {
    if (durable !== true || location === undefined) return undefined
    const place = topLevelOf(callersOf(create))
    return place && new CreatedBy(place, location, logger)
  }

  /**
   * Replaces the receivers of earlier evaluations, and returns whether it did. In production it only warns. `handlers`:
   * absent if the receiver runs none.
   */
  started<T extends Replaceable<T>>(receiver: T, handlers: HandlerSharing | undefined): boolean {
    const { running } = registry()
    const earlier = running.get(this.#key)
    // Another evaluation may have started its receiver before this older one was needed.
    if (earlier !== undefined && earlier.evaluation > this.#evaluation) return false
    const own: Running = {
      file: this.#file,
      location: this.#location,
      evaluation: this.#evaluation,
      likeness: handlers && likenessOf(handlers),
      startedAt: Date.now(),
      receiver,
    }
    const twins = [...running].filter(([, other]) => isTwin(own, other))
    running.set(this.#key, own)
    let hasReplaced = false
    if (earlier !== undefined && earlier.evaluation !== this.#evaluation) {
      const evaluated = `${this.#file} was evaluated again, and has created another receiver on ${this.#location}.`
      const cost = 'Both run, each with the handlers of its evaluation. Load the module once.'
      hasReplaced = this.#replace(earlier, receiver, { evaluated, cost })
    }
    for (const [key, twin] of twins) {
      const evaluated = `${twin.file} and ${this.#file} have each created a receiver on ${this.#location}, with the same types and namespace.`
      if (!this.#replace(twin, receiver, { evaluated, cost: TWICE })) continue
      running.delete(key)
      hasReplaced = true
    }
    return hasReplaced
  }

  #replace<T extends Replaceable<T>>(
    { receiver: earlier, startedAt }: Running,
    receiver: T,
    { evaluated, cost }: { readonly evaluated: string; readonly cost: string },
  ): boolean {
    const fields = { code: 'module_evaluated_again', file: this.#file }
    if (isProduction()) {
      this.#logger.warn(fields, `${evaluated} ${cost}`)
      return false
    }
    if (!earlier.handOver(receiver)) return false
    const seconds = Math.round((Date.now() - startedAt) / 1000)
    this.#logger.info(
      fields,
      `${evaluated} It takes over from the one started ${seconds} s ago, which drains.`,
    )
    return true
  }

  /** True if a receiver of another evaluation is in this one's place. */
  get isReplaced(): boolean {
    const { running, files } = registry()
    return running.has(this.#key) || files.get(this.#file)?.number !== this.#evaluation
  }

  /** Forgets a receiver that has been closed. */
  closed(receiver: Replaceable<never>): void {
    const { running } = registry()
    if (running.get(this.#key)?.receiver === receiver) running.delete(this.#key)
  }
}

const TWICE =
  'Both run, and each event goes to either. If these are two bundles of one module, as Next.js makes of instrumentation.js and a route, keep the receiver on globalThis. If they are two endpoints, give each its own namespace.'

/** Returns what a receiver handles. Two endpoints in one file differ in it: each has its own namespace. */
function likenessOf({ namespace, published: { patterns } }: HandlerSharing): string | undefined {
  return patterns.length === 0 ? undefined : JSON.stringify([String(namespace), patterns.toSorted()])
}

/**
 * Returns whether two files have created the same receiver. In development the later one takes over, so they must be a
 * bundler's: each bundle of a module has another name.
 */
function isTwin(own: Running, other: Running): boolean {
  if (own.file === other.file || own.location !== other.location) return false
  if (own.likeness === undefined || own.likeness !== other.likeness) return false
  return isProduction() || (other.evaluation < own.evaluation && isBundle(own.file) && isBundle(other.file))
}

function isBundle(file: string): boolean {
  return /[/\\]\.next[/\\]|^\([\w-]+\)[/\\]/.test(file)
}

/** Returns the evaluation that a creation belongs to. */
function evaluationOf(place: Place): Evaluation {
  const all = registry()
  const file = fileOf(place.script)
  const last = all.files.get(file)
  const isSame = last !== undefined && continues(last, place)
  const evaluation: Evaluation = {
    ...place,
    isRunning: true,
    number: isSame ? last.number : ++all.evaluations,
    counts: isSame ? last.counts : new Map(),
  }
  all.files.set(file, evaluation)
  queueMicrotask(() => {
    evaluation.isRunning = false
  })
  return evaluation
}

/** Returns whether a creation at `place` belongs to the evaluation of the last one. A module runs from top to bottom. */
function continues(last: Evaluation, { script, hash, line, column }: Place): boolean {
  if (script !== last.script || hash !== last.hash) return false
  const isBelow = line > last.line || (line === last.line && column > last.column)
  return isBelow || last.isRunning
}

/** Returns the file of a script, without what a bundler or a server adds for one evaluation. */
function fileOf(script: string): string {
  const path = script.replace(/^webpack-internal:\/{3}|^file:\/\//, '').replace(/[?#].*$/s, '')
  try {
    return script.startsWith('file:') ? decodeURIComponent(path) : path
  } catch {
    return path
  }
}

/** Returns the frames above `create`. Empty where the runtime has no such stacks. */
function callersOf(create: (...args: never[]) => unknown): readonly CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error as ErrorConstructor & {
    prepareStackTrace?: unknown
    stackTraceLimit?: number
  }
  try {
    const holder: { stack?: unknown } = {}
    Object.assign(Error, {
      stackTraceLimit: MAX_FRAMES,
      prepareStackTrace: (_: unknown, frames: readonly CallSite[]) => frames,
    })
    ;(Error as { captureStackTrace?: (target: object, above: unknown) => void }).captureStackTrace?.(
      holder,
      create,
    )
    const frames = holder.stack
    const isComplete = Array.isArray(frames) && typeof frames[0]?.getScriptHash === 'function'
    return isComplete ? (frames as readonly CallSite[]) : []
  } catch {
    return []
  } finally {
    Object.assign(Error, { stackTraceLimit, prepareStackTrace })
  }
}

/** Frames of this package and its adapters, in `node_modules`, in pnpm's store and in a bundle. */
const OWN = /@ackhook[/\\+_]/
/** Names of frames at a module's top level. Functions without a name have them too: the frame below decides. */
const TOP_LEVEL = [null, '', 'eval', 'module evaluation']
/** What calls a module's top level: Node's loaders and Turbopack; Vite, vite-node and webpack. */
const LOADER_FILE = /^node:internal\/modules\/|\[turbopack\]_runtime\.js$/
const LOADER = /^(?:runInlinedModule|runModule|instantiateModule|__webpack_require__)/

/** Returns the place of creation, if it is the top level of a module: a function may be called for several receivers. */
function topLevelOf(frames: readonly CallSite[]): Place | undefined {
  const [caller, ...below] = frames.filter(frame => !isOwn(frame) && !isTick(frame))
  if (caller === undefined || !TOP_LEVEL.includes(caller.getFunctionName())) return undefined
  const script = caller.getScriptNameOrSourceURL()
  if (script === null || script === '') return undefined
  // Code that has awaited something may have no frame below it.
  if (below.length === 0 ? !isWholeModule(caller, script) : !isCalledByLoader(below)) return undefined
  return {
    script,
    hash: caller.getScriptHash(),
    line: caller.getLineNumber() ?? 0,
    column: caller.getColumnNumber() ?? 0,
  }
}

function isOwn(frame: CallSite): boolean {
  return OWN.test(frame.getScriptNameOrSourceURL() ?? '')
}

/** The frame from which Node continues a promise, above those of the functions that await it. */
function isTick(frame: CallSite): boolean {
  return frame.getScriptNameOrSourceURL() === 'node:internal/process/task_queues'
}

/** The function of a module begins where its file does. webpack and Turbopack put one around an async module. */
function isWholeModule(caller: CallSite, script: string): boolean {
  if (/^webpack-internal:|[/\\]\.next[/\\]/.test(script)) return true
  return caller.getEnclosingLineNumber?.() === 1 && caller.getEnclosingColumnNumber?.() === 1
}

function isCalledByLoader([below, further]: readonly CallSite[]): boolean {
  if (below === undefined) return false
  if (LOADER_FILE.test(below.getScriptNameOrSourceURL() ?? '')) return true
  if (LOADER.test(below.getFunctionName() ?? '')) return true
  // webpack wraps the module in a function that is named after it.
  return further !== undefined && further.getFunctionName() === '__webpack_require__'
}

/** Read at each start through the global object: a bundler would fix the value of the usual expression. */
function isProduction(): boolean {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  return process?.env?.['NODE_ENV'] === 'production'
}

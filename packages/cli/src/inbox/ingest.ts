import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { createReadStream, type Stats, statSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  createReceiver,
  type Duration,
  type Inbox,
  type IngestResult,
  memoryInbox,
  type Receiver,
} from '@ackhook/core'
import { eventKey, printable } from '@ackhook/core/spi'
import { EXIT } from '../command/exit-codes.ts'
import { STANDARD_INPUT } from '../command/read-text.ts'
import { type ContractFlags, contractOf } from '../command/shared-options.ts'
import { UsageError } from '../command/usage-error.ts'
import type { Progress, Terminal } from '../terminal/terminal.ts'
import { eventsIn } from './events-in-file.ts'
import type { InboxFlags } from './inbox-flags.ts'
import { type EventText, UnreadableRest } from './split-events.ts'
import { type InboxParts, withInbox } from './with-inbox.ts'

export interface IngestFlags extends InboxFlags, ContractFlags {
  readonly dryRun?: boolean
  readonly failFast?: boolean
  readonly retention?: Duration
  readonly source: string
}

/** Lines that are ingested at a time. */
const AT_ONCE = 50
/** Tries to store an event while the inbox is full or down. */
const TRIES = 5
const RETRY_MS = 1000
/** Bad lines that are named one by one. */
const SHOWN = 20
const CLOSE_MS = '5s'

/** Stores the events of a file, as if they had been delivered. A repeated run skips what is stored. */
export function ingest(file: string, flags: IngestFlags, parts: InboxParts): Promise<number> {
  const { terminal } = parts
  return withInbox(flags, parts, async inbox => {
    const receiver = receiverOf(flags.dryRun ? memoryInbox() : inbox, flags)
    const ingesting = new Ingesting(receiver, inbox, flags, terminal)
    const { events, bar } = eventsOf(file, terminal)
    try {
      await receiver.start()
      await ingesting.run(events)
    } finally {
      bar.stop()
      if (flags.dryRun) await receiver.close({ timeout: CLOSE_MS })
    }
    return ingesting.report()
  })
}

/** Only receives. The app's processes handle the events, with their own `upcast`, schemas and handlers. */
function receiverOf(inbox: Inbox, flags: IngestFlags): Ingester {
  const { namespace = '', retention } = flags
  return createReceiver({
    // No request is verified here.
    secret: randomUUID(),
    inbox,
    namespace,
    contract: contractOf(flags),
    logger: { info() {}, warn() {}, error() {} },
    ...(inbox.durable === true && { concurrency: 0 }),
    ...(retention !== undefined && { retention }),
  })
}

type Ingester = Pick<Receiver, 'ingest' | 'start' | 'close'>

interface Bad {
  readonly line: number
  readonly code: string
  readonly detail?: string | undefined
}

const WORDS = {
  accepted: 'accepted',
  duplicate: 'known already',
  dead: 'dead letters, which only a redrive runs',
} as const

class Ingesting {
  readonly #receiver: Ingester
  readonly #inbox: Inbox
  readonly #flags: IngestFlags
  readonly #terminal: Terminal
  readonly #counts = { accepted: 0, duplicate: 0, dead: 0 }
  readonly #bad: Bad[] = []
  /** Line of the last event that was offered. */
  #offered = 0
  /** Line at which the run ended early, and why. */
  #end: { readonly line: number; readonly why: string } | undefined

  constructor(receiver: Ingester, inbox: Inbox, flags: IngestFlags, terminal: Terminal) {
    this.#receiver = receiver
    this.#inbox = inbox
    this.#flags = flags
    this.#terminal = terminal
  }

  async run(events: AsyncIterable<EventText>): Promise<void> {
    let batch: EventText[] = []
    try {
      for await (const event of events) {
        batch.push(event)
        if (batch.length < AT_ONCE) continue
        await this.#offerAll(batch)
        batch = []
        if (this.#end !== undefined) return
      }
    } catch (error) {
      if (!(error instanceof UnreadableRest)) throw error
      // What comes before is complete.
      await this.#offerAll(batch)
      this.#endAt(error.line, error.message)
      return
    }
    await this.#offerAll(batch)
  }

  async #offerAll(batch: readonly EventText[]): Promise<void> {
    const [first] = batch
    if (first === undefined || this.#end !== undefined) return
    if (this.#terminal.stop.aborted) return this.#endAt(first.line, 'stopped')
    this.#offered = batch.at(-1)?.line ?? 0
    await Promise.all(batch.map(event => this.#offer(event)))
  }

  async #offer({ line, bytes }: EventText): Promise<void> {
    for (let tries = 1; ; tries++) {
      const result = await this.#ingest(bytes)
      if (result.outcome !== 'refused') return this.#count(result)
      if (result.status < 500) return this.#refuse({ line, code: result.code, detail: result.detail })
      // The inbox is full or down, which is not this event's fault.
      if (tries === TRIES || this.#terminal.stop.aborted) return this.#endAt(line, result.code)
      await new Promise(wake => setTimeout(wake, result.retryAfterMs ?? RETRY_MS))
    }
  }

  /** The earliest line counts. */
  #endAt(line: number, why: string): void {
    if (this.#end === undefined || line < this.#end.line) this.#end = { line, why }
  }

  async #ingest(bytes: Uint8Array): Promise<IngestResult> {
    const { source, dryRun } = this.#flags
    if (!isUtf8(bytes))
      return {
        outcome: 'refused',
        status: 400,
        code: 'json_invalid',
        detail: 'it is not UTF-8: save the file as UTF-8',
      }
    const result = await this.#receiver.ingest(bytes, { source })
    if (!dryRun || result.outcome === 'refused') return result
    const found = await this.#inbox.lookup?.(await eventKey(result.namespace, result.id))
    if (found === undefined || found.state === 'unknown') return result
    return { ...result, outcome: found.state === 'dead' ? 'dead' : 'duplicate' }
  }

  #count({ outcome }: Exclude<IngestResult, { outcome: 'refused' }>): void {
    this.#counts[outcome === 'duplicate' || outcome === 'dead' ? outcome : 'accepted']++
  }

  #refuse(bad: Bad): void {
    this.#bad.push(bad)
    if (this.#flags.failFast) this.#endAt(bad.line, bad.code)
  }

  /** Says how far the file was offered: at a bad line, events behind it may be under way. */
  #reach(): string {
    if (this.#offered === 0) return 'Nothing was offered.'
    return `Of the events that begin at lines 1 to ${this.#offered}, all were offered; of those behind, none.`
  }

  /** Prints counts by outcome, and the bad lines by number. */
  report(): number {
    const { out, err } = this.#terminal
    const { dryRun, json } = this.#flags
    const bad = this.#bad.sort((a, b) => a.line - b.line)
    const end = this.#end
    if (json) {
      const { accepted, duplicate, dead } = this.#counts
      const counts = { accepted, duplicates: duplicate, dead, refused: bad.length }
      out(
        JSON.stringify({
          ...counts,
          lines: bad,
          ...(dryRun && { dryRun }),
          ...(end && { stoppedAt: end, offeredTo: this.#offered }),
        }),
      )
    } else {
      for (const { line, code, detail } of bad.slice(0, SHOWN))
        err(`line ${line}: ${code}${detail === undefined ? '' : ` (${printable(detail)})`}`)
      if (bad.length > SHOWN) err(`${bad.length - SHOWN} more lines were refused: --json names all of them`)
      const counts = Object.entries(WORDS).map(
        ([name, words]) => `${this.#counts[name as keyof typeof WORDS]} ${words}`,
      )
      const would = dryRun ? 'Nothing was stored. It would be: ' : ''
      out(`${would}${counts.join(', ')}, ${bad.length} refused`)
      if (end !== undefined)
        err(
          `Ended at line ${end.line} (${printable(end.why)}). Run it again: what is stored is known already. ${this.#reach()}`,
        )
    }
    return bad.length === 0 && end === undefined ? EXIT.ok : EXIT.failed
  }
}

/** Steps of the progress bar, for a file of any length. */
const STEPS = 100

function eventsOf(file: string, terminal: Terminal): { events: AsyncIterable<EventText>; bar: Progress } {
  if (file === STANDARD_INPUT)
    return { events: eventsIn(inputOf(terminal), 'standard input'), bar: { advance() {}, stop() {} } }
  const path = resolve(terminal.cwd, file)
  const bytes = sizeOf(path, file)
  const bar = terminal.progress(STEPS, `the lines of ${file}`)
  return { events: eventsIn(withProgress(contentsOf(path, file), bytes, bar), file), bar }
}

function sizeOf(path: string, file: string): number {
  const stats = statsOf(path, file)
  if (stats.isDirectory()) throw new UsageError(`${printable(file)} is a folder: name one of its files`)
  return stats.size
}

function statsOf(path: string, file: string): Stats {
  try {
    return statSync(path)
  } catch (cause) {
    throw new UsageError(`there is no file ${printable(file)}, or it cannot be read`, { cause })
  }
}

/** Opens the file with the first read: a stream that failed while the inbox starts would have no listener. */
async function* contentsOf(path: string, file: string): AsyncIterable<Uint8Array> {
  try {
    yield* createReadStream(path)
  } catch (cause) {
    throw new UsageError(`the file ${printable(file)} cannot be read: ${(cause as Error).message}`, { cause })
  }
}

async function* inputOf({ input }: Terminal): AsyncIterable<Uint8Array> {
  const bytes = await input()
  if (bytes !== undefined) yield bytes
}

async function* withProgress(
  chunks: AsyncIterable<Uint8Array>,
  total: number,
  bar: Progress,
): AsyncIterable<Uint8Array> {
  let read = 0
  let shown = 0
  for await (const chunk of chunks) {
    yield chunk
    read += chunk.length
    for (const now = Math.floor((STEPS * read) / total); shown < now; shown++) bar.advance()
  }
}

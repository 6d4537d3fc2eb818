import type { Delivery } from '@ackhook/core'
import { type AcceptResult, type AttemptResult, settlesWithin } from '@ackhook/core/spi'
import type { Mutants } from '../mutant.ts'
import { FileInbox } from './file-inbox.ts'
import { fileMutant } from './file-mutant.ts'
import { acceptedLine, applyLine, type Line } from './file-rows.ts'

/** Forgets lines of these kinds when it opens the file. */
const losing = (...kinds: readonly Line['is'][]) =>
  class extends FileInbox {
    protected override replay(line: Line): void {
      if (!kinds.includes(line.is)) super.replay(line)
    }
  }

/** Changes lines when it opens the file. */
const reading = (change: (line: Line) => Line) =>
  class extends FileInbox {
    protected override replay(line: Line): void {
      super.replay(change(line))
    }
  }

/** Keeps changes of these kinds only in memory. */
const unwritten = (...kinds: readonly Line['is'][]) =>
  class extends FileInbox {
    protected override async commit(...lines: readonly Line[]): Promise<void> {
      const written = lines.filter(({ is }) => !kinds.includes(is))
      if (written.length > 0) return super.commit(...lines)
      for (const line of lines) applyLine(this.rows, line)
    }
  }

/** Applies a change before it is written, and keeps it if the write fails. */
const early = (...kinds: readonly Line['is'][]) =>
  class extends FileInbox {
    protected override async commit(...lines: readonly Line[]): Promise<void> {
      if (kinds.includes(lines[0]!.is)) for (const line of lines) applyLine(this.rows, line)
      await super.commit(...lines)
    }
  }

/** Faults in writing, and in the next process's reading. */
export const mutants: Mutants = [
  fileMutant(
    'no-flush',
    { wrong: 'flushes nothing', caughtBy: 'crash-accepted' },
    class extends FileInbox {
      protected override async flush(): Promise<void> {}
    },
  ),
  fileMutant(
    'late-flush',
    { wrong: 'returns before the flush', caughtBy: 'crash-accepted' },
    class extends FileInbox {
      protected override async flush(): Promise<void> {
        setTimeout(() => super.flush().catch(() => {}), 20)
      }
    },
  ),
  fileMutant(
    'accept-first',
    { wrong: 'accepts before the write', caughtBy: 'failure-accept' },
    class extends FileInbox {
      override async accept(delivery: Delivery): Promise<AcceptResult> {
        void super.accept(delivery)
        return { outcome: 'accepted' }
      }
    },
  ),
  fileMutant(
    'duplicate-first',
    { wrong: 'reports a duplicate before the flush of the first', caughtBy: 'crash-duplicate' },
    class extends FileInbox {
      readonly #seen = new Set<string>()
      override async accept(delivery: Delivery): Promise<AcceptResult> {
        if (this.#seen.has(delivery.key)) return { outcome: 'duplicate' }
        this.#seen.add(delivery.key)
        return super.accept(delivery)
      }
    },
  ),
  fileMutant(
    'torn-line',
    { wrong: 'writes after a torn last line', caughtBy: 'crash-torn' },
    class extends FileInbox {
      protected override wholeLines(text: string): string {
        const lines = text.split('\n').filter(line => isJson(line))
        // Keeps the file's length, so that the file stays unchanged.
        return lines
          .map(line => `${line}\n`)
          .join('')
          .padEnd(text.length, '\n')
      }
      protected override async opened(): Promise<void> {
        this.disk.write('')
        await this.flush()
      }
    },
  ),
  fileMutant(
    'torn-refused',
    { wrong: 'cannot open a file with a torn last line', caughtBy: 'crash-torn' },
    class extends FileInbox {
      protected override wholeLines(text: string): string {
        return text
      }
    },
  ),
  fileMutant(
    'torn-all',
    { wrong: 'mistakes a torn last line for an empty file', caughtBy: 'crash-torn' },
    class extends FileInbox {
      protected override wholeLines(text: string): string {
        return text.endsWith('\n') ? text : ''
      }
    },
  ),
  fileMutant(
    'claim-stranded',
    {
      wrong: 'claims an id before it stores the event, and keeps the claim after a crash',
      caughtBy: 'crash-claim',
    },
    class extends FileInbox {
      protected override async store(delivery: Delivery): Promise<AcceptResult> {
        const { key } = delivery
        if (this.find(key) !== undefined) return super.store(delivery)
        const until = Date.now() + 60_000
        await this.commit(acceptedLine(delivery, Date.now()), { is: 'done', key, until })
        this.rows.delete(key)
        // As a second call of a store takes: a crash here leaves an id that nobody will handle.
        await new Promise(resolve => setTimeout(resolve, 2))
        return super.store(delivery)
      }
    },
  ),
  fileMutant(
    'running-lost',
    { wrong: 'forgets running events in a crash', caughtBy: 'crash-running' },
    class extends FileInbox {
      protected override replay(line: Line): void {
        super.replay(line)
        if (line.is === 'begun') this.rows.get(line.key)!.state = 'done'
        if (line.is === 'begun') this.rows.get(line.key)!.until = Number.POSITIVE_INFINITY
      }
    },
  ),
  fileMutant(
    'begun-unwritten',
    { wrong: 'does not record that an attempt begins', caughtBy: 'crash-count' },
    unwritten('begun'),
  ),
  fileMutant(
    'crash-uncounted',
    { wrong: 'counts no crashes', caughtBy: 'crash-count' },
    class extends FileInbox {
      protected override replay(line: Line): void {
        super.replay(line)
        if ('key' in line && this.rows.has(line.key)) this.rows.get(line.key)!.crashes = 0
      }
    },
  ),
  fileMutant(
    'release-crash',
    { wrong: 'counts a drain as a crash', caughtBy: 'drain-no-crash' },
    losing('released'),
  ),
  fileMutant(
    'handled-lost',
    { wrong: 'runs handled events again after a start', caughtBy: 'durable-duplicate' },
    losing('done'),
  ),
  fileMutant(
    'dead-lost',
    { wrong: 'runs dead letters again after a start', caughtBy: 'durable-dead' },
    losing('dead'),
  ),
  fileMutant(
    'redrive-lost',
    { wrong: 'does not record a redrive', caughtBy: 'reopen-redrive' },
    unwritten('redriven'),
  ),
  fileMutant(
    'discard-lost',
    { wrong: 'does not record a discard', caughtBy: 'reopen-discard' },
    unwritten('discarded'),
  ),
  fileMutant(
    'forget-lost',
    { wrong: 'does not record that an id is forgotten', caughtBy: 'reopen-forget' },
    unwritten('forgotten'),
  ),
  fileMutant(
    'redelivery-lost',
    { wrong: 'loses the redelivery of a dead letter that it accepted', caughtBy: 'reopen-redelivery' },
    class extends FileInbox {
      protected override async commit(...lines: readonly Line[]): Promise<void> {
        const [line] = lines
        if (line?.is !== 'accepted' || this.rows.get(line.key)?.state !== 'dead')
          return super.commit(...lines)
        applyLine(this.rows, line)
      }
    },
  ),
  fileMutant(
    'redelivery-counted',
    {
      wrong: 'continues counting the attempts of a redriven letter after a start',
      caughtBy: 'reopen-redrive',
    },
    class extends FileInbox {
      protected override replay(line: Line): void {
        const attempts = 'key' in line ? (this.rows.get(line.key)?.attempts ?? 0) : 0
        super.replay(line)
        if (line.is === 'redriven') this.rows.get(line.key)!.attempts = attempts
      }
    },
  ),
  fileMutant(
    'attempts-lost',
    { wrong: 'counts attempts from one again after a start', caughtBy: 'durable-retry' },
    reading(line => (line.is === 'waiting' ? { ...line, attempts: 0 } : line)),
  ),
  fileMutant(
    'delay-lost',
    { wrong: 'retries at once after a start', caughtBy: 'reopen-delay' },
    reading(line => (line.is === 'waiting' ? { ...line, until: 0 } : line)),
  ),
  fileMutant(
    'delay-anew',
    { wrong: 'restarts a delay after a start, ten times as long', caughtBy: 'reopen-delay' },
    reading(line => (line.is === 'waiting' ? { ...line, until: Date.now() + 20_000 } : line)),
  ),
  fileMutant(
    'order-lost',
    { wrong: 'loses the ordering key at a start', caughtBy: 'reopen-order' },
    reading(line => without('order', line)),
  ),
  fileMutant(
    'turn-lost',
    { wrong: 'lets others overtake a retry after a start', caughtBy: 'reopen-order-retry' },
    class extends FileInbox {
      protected override replay(line: Line): void {
        super.replay(line)
        for (const row of this.rows.values()) row.hasBegun = false
      }
    },
  ),
  fileMutant(
    'received-lost',
    { wrong: 'uses the start time as the acceptance time', caughtBy: 'reopen-received' },
    reading(line =>
      line.is === 'accepted' ? { ...line, delivery: { ...line.delivery, receivedAt: Date.now() } } : line,
    ),
  ),
  fileMutant(
    'trace-lost',
    { wrong: 'drops the trace context', caughtBy: 'durable-trace' },
    reading(line => without('trace', line)),
  ),
  fileMutant(
    'bytes-changed',
    { wrong: 'writes a body as text', caughtBy: 'durable-waiting' },
    reading(line => (line.is === 'accepted' ? acceptedLine(asText(line), line.at) : line)),
  ),
  fileMutant(
    'capacity-empty',
    { wrong: 'counts only its own events for the capacity', caughtBy: 'reopen-stats' },
    class extends FileInbox {
      #before = 0
      protected override async load(): Promise<void> {
        await super.load()
        this.#before = super.openRows()
      }
      protected override openRows(): number {
        return super.openRows() - this.#before
      }
    },
  ),
  fileMutant(
    'accept-failed',
    { wrong: 'accepts an event that it could not write', caughtBy: 'failure-accept' },
    class extends FileInbox {
      override async accept(delivery: Delivery): Promise<AcceptResult> {
        const result = await super.accept(delivery)
        return result.outcome === 'unavailable' && !this.isClosed ? { outcome: 'accepted' } : result
      }
    },
  ),
  fileMutant(
    'accept-throws',
    { wrong: 'applies an event before it is written', caughtBy: 'failure-accept' },
    early('accepted'),
  ),
  fileMutant(
    'start-swallows',
    { wrong: 'starts even if nothing can be written', caughtBy: 'failure-start' },
    class extends FileInbox {
      protected override async opened(): Promise<void> {
        await super.opened().catch(() => {})
      }
    },
  ),
  fileMutant(
    'start-unproven',
    { wrong: 'writes nothing at a start', caughtBy: 'failure-start' },
    class extends FileInbox {
      protected override async opened(): Promise<void> {}
    },
  ),
  fileMutant(
    'redrive-early',
    { wrong: 'redrives a letter in memory if the write fails', caughtBy: 'failure-letters' },
    early('redriven'),
  ),
  fileMutant(
    'discard-early',
    { wrong: 'discards a letter in memory if the write fails', caughtBy: 'failure-letters' },
    early('discarded'),
  ),
  fileMutant(
    'letters-swallow',
    { wrong: "returns false if a letter's change cannot be written", caughtBy: 'failure-letters' },
    class extends FileInbox {
      protected override async change(is: 'redriven' | 'discarded', keys: readonly string[]) {
        return super.change(is, keys).catch(() => [])
      }
    },
  ),
  fileMutant(
    'record-silent',
    { wrong: 'does not observe a failure to record', caughtBy: 'failure-record' },
    class extends FileInbox {
      protected override async recordUntilDone(...[result, held]: Parameters<FileInbox['recordUntilDone']>) {
        for (;;) {
          const isDone = await this.exclusive(() => this.record(result, held)).then(
            () => true,
            () => this.isClosed,
          )
          if (isDone) return
          await new Promise(resolve => setTimeout(resolve, 20))
        }
      }
    },
  ),
  fileMutant(
    'record-once',
    { wrong: 'drops a result that could not be recorded', caughtBy: 'failure-record' },
    class extends FileInbox {
      protected override async record(...args: Parameters<FileInbox['record']>): Promise<void> {
        await super.record(...args).catch(error => {
          this.policy!.observe({ kind: 'store_down', operation: 'record', error })
        })
      }
    },
  ),
  fileMutant(
    'begin-silent',
    { wrong: 'does not observe a failure to begin', caughtBy: 'failure-observed' },
    class extends FileInbox {
      protected override async begin(held: Parameters<FileInbox['begin']>[0]): Promise<boolean> {
        const { policy } = this
        this.policy = { ...policy!, observe() {} }
        const hasBegun = await super.begin(held)
        this.policy = policy
        return hasBegun
      }
    },
  ),
  fileMutant(
    'drain-retries',
    { wrong: 'hands out retries that fall due during the drain', caughtBy: 'drain-hands-out-nothing' },
    class extends FileInbox {
      override async close(timeoutMs: number) {
        const running = Promise.all([...this.held.values()].map(one => one.ended))
        await settlesWithin(running, timeoutMs)
        return super.close(timeoutMs)
      }
    },
  ),
  fileMutant(
    'withdrawn-counts',
    { wrong: 'records the result of a withdrawn attempt', caughtBy: 'drain-withdrawn' },
    class extends FileInbox {
      protected override async record(result: AttemptResult, held: Parameters<FileInbox['record']>[1]) {
        const { key } = held.entry.delivery
        if (held.attempt.abortReason === undefined) return super.record(result, held)
        await this.commit(this.lineOf(result, key, held.attempt))
      }
      protected override async release(): Promise<void> {}
    },
  ),
  fileMutant(
    'crash-delay',
    { wrong: 'delays an event for a minute after its first crash', caughtBy: 'crash-running' },
    class extends FileInbox {
      protected override delayOf(row: Parameters<FileInbox['delayOf']>[0]): number {
        return row.crashes === 1 ? 60_000 : super.delayOf(row)
      }
    },
  ),
  fileMutant(
    'retry-in-memory',
    { wrong: 'keeps the attempts of a waiting retry in memory', caughtBy: 'crash-retry' },
    class extends FileInbox {
      protected override async commit(...lines: readonly Line[]): Promise<void> {
        if (lines[0]?.is !== 'waiting') return super.commit(...lines)
        for (const line of lines) applyLine(this.rows, line)
        await super.flush()
      }
    },
  ),
  fileMutant(
    'many-half',
    { wrong: 'writes only every second change', caughtBy: 'many-reopen' },
    class extends FileInbox {
      protected override async commit(...lines: readonly Line[]): Promise<void> {
        await super.commit(...lines.filter((_, index) => index % 2 === 0))
        for (const line of lines.filter((_, index) => index % 2 === 1)) applyLine(this.rows, line)
      }
    },
  ),
]

function without(field: 'order' | 'trace', line: Line): Line {
  if (line.is !== 'accepted') return line
  const { [field]: _, ...delivery } = line.delivery
  return { ...line, delivery: delivery as typeof line.delivery }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function asText({ delivery }: Extract<Line, { is: 'accepted' }>): Delivery {
  const text = Buffer.from(delivery.body, 'base64').toString('utf8').trim()
  return { ...delivery, body: Buffer.from(text.replaceAll('\ufffd', '?')) }
}

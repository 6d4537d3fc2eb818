import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A receiver's work, from its ledger. */
interface Ledger {
  /** Attempts begun, by event id. */
  readonly begun: ReadonlyMap<string, number>
  /** Attempts whose handler ran to its end, by event id. */
  readonly done: ReadonlyMap<string, number>
  readonly dead: ReadonlyMap<string, number>
  /** Patterns of the handlers that an event ran, by event id. */
  readonly ranBy: ReadonlyMap<string, ReadonlySet<string>>
  /** Start of the first drain, in milliseconds since the epoch. */
  readonly drainingAt: number | undefined
}

/** A folder for one test, with a ledger and a database in it. */
export interface Workspace {
  readonly ledger: string
  readonly database: string
  read(): Ledger
  remove(): void
}

export function createWorkspace(): Workspace {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-faults-'))
  const ledger = join(folder, 'ledger.txt')
  return {
    ledger,
    database: join(folder, 'inbox.db'),
    read: () => parse(existsSync(ledger) ? readFileSync(ledger, 'utf8') : ''),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function parse(text: string): Ledger {
  const counts = {
    begin: new Map<string, number>(),
    done: new Map<string, number>(),
    dead: new Map<string, number>(),
  }
  const ranBy = new Map<string, Set<string>>()
  let drainingAt: number | undefined
  for (const line of text.split('\n')) {
    const [what = '', subject = '', detail = ''] = line.split(' ')
    if (what === 'by') ranBy.set(subject, (ranBy.get(subject) ?? new Set()).add(detail))
    if (what === 'draining') drainingAt ??= Number(subject)
    const map = (counts as Record<string, Map<string, number> | undefined>)[what]
    map?.set(subject, (map.get(subject) ?? 0) + 1)
  }
  return { begun: counts.begin, done: counts.done, dead: counts.dead, ranBy, drainingAt }
}

/** Scales a count of the full run by `FAULT_SCALE`; never below `least`. */
export function scaled(full: number, least: number): number {
  return Math.max(least, Math.round(full * Number(process.env['FAULT_SCALE'] ?? '1')))
}

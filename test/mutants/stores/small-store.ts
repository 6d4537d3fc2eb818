import type { DedupeStore } from '@ackhook/core'
import type { Claim, ClaimOptions, KeptRuns, RunCount, StoredId } from '@ackhook/core/spi'

export interface Row {
  readonly token: string
  readonly until: number
  /** Present only for a handled id. */
  readonly fingerprint?: number
}

export interface Counted extends RunCount {
  /** True until the lease of the last counted run is released. */
  readonly isHeld: boolean
  readonly until: number
}

/** State shared by the views of one store: its rows, its room, and whether commands fail. */
export class Server {
  readonly rows = new Map<string, Row>()
  readonly counts = new Map<string, Counted>()
  readonly room: number
  isFailing = false

  constructor(room: number = Number.POSITIVE_INFINITY) {
    this.room = room
  }

  /** Returns the server's time, unlike a client's clock, which a case sets wrong. */
  now(): number {
    return performance.now()
  }
}

export type Lease = ClaimOptions
export type Completion = { readonly retentionMs: number; readonly fingerprint: number }

/** A small correct store. Faulty stores override one method. */
export class SmallStore implements DedupeStore {
  readonly countsRuns: boolean = true
  readonly server: Server

  constructor(server: Server) {
    this.server = server
  }

  async claim(key: string, token: string, { leaseMs, fingerprint, countForMs }: Lease): Promise<Claim> {
    this.command()
    const row = this.row(key)
    if (row?.fingerprint !== undefined)
      return { outcome: row.fingerprint === fingerprint ? 'completed' : 'conflict' }
    if (row !== undefined && row.token !== token)
      return { outcome: 'in_flight', retryAfterMs: this.left(row) }
    if (row === undefined && this.claims() >= this.server.room) return { outcome: 'full' }
    this.write(key, { token, until: this.now() + leaseMs })
    if (countForMs === undefined) {
      this.server.counts.delete(key)
      return { outcome: 'claimed' }
    }
    const runs = this.runsBefore(key, row !== undefined)
    this.server.counts.set(key, { ...runs, isHeld: true, until: this.now() + leaseMs + countForMs })
    return { outcome: 'claimed', runs }
  }

  async extend(key: string, token: string, leaseMs: number): Promise<boolean> {
    this.command()
    if (!this.isMine(key, token)) return false
    this.write(key, { token, until: this.now() + leaseMs })
    return true
  }

  async complete(key: string, token: string, { retentionMs, fingerprint }: Completion): Promise<boolean> {
    this.command()
    const row = this.row(key)
    if (row !== undefined && row.token !== token && row.fingerprint === undefined) return false
    this.write(key, { token, until: this.now() + retentionMs, fingerprint })
    this.server.counts.delete(key)
    return true
  }

  async release(key: string, token: string, kept?: KeptRuns): Promise<boolean> {
    this.command()
    if (!this.isMine(key, token)) return false
    this.keep(key, kept)
    return this.server.rows.delete(key)
  }

  async forget(key: string): Promise<boolean> {
    this.command()
    return this.row(key)?.fingerprint !== undefined && this.server.rows.delete(key)
  }

  async lookup(key: string): Promise<StoredId> {
    this.command()
    const row = this.row(key)
    if (row === undefined) return { state: 'unknown' }
    return row.fingerprint === undefined ? { state: 'claimed' } : { state: 'handled', leftMs: this.left(row) }
  }

  /** Returns the count of earlier runs. `isSame`: the claim of a run repeated. */
  protected runsBefore(key: string, isSame: boolean): RunCount {
    const found = this.server.counts.get(key)
    if (found === undefined || found.until <= this.now()) return { lapses: 0, attempts: 0 }
    const { lapses, attempts, isHeld } = found
    return { lapses: isHeld && !isSame ? lapses + 1 : lapses, attempts }
  }

  protected keep(key: string, kept: KeptRuns | undefined): void {
    if (kept === undefined) this.server.counts.delete(key)
    else this.server.counts.set(key, { ...kept, isHeld: false, until: this.now() + kept.countForMs })
  }

  /** Simulates a round trip to the server. */
  protected command(): void {
    if (this.server.isFailing) throw new Error('The server does not respond')
  }

  protected now(): number {
    return this.server.now()
  }

  /** Returns the row of a key, unless it has expired. */
  protected row(key: string): Row | undefined {
    this.sweep()
    return this.server.rows.get(key)
  }

  protected sweep(): void {
    for (const [key, { until }] of this.server.rows) if (until <= this.now()) this.server.rows.delete(key)
  }

  protected write(key: string, row: Row): void {
    this.server.rows.set(key, row)
  }

  protected isMine(key: string, token: string): boolean {
    const row = this.row(key)
    return row?.token === token && row.fingerprint === undefined
  }

  protected left({ until }: Row): number {
    return until - this.now()
  }

  /** Returns the number of claims that take room. */
  protected claims(): number {
    return [...this.server.rows.values()].filter(({ fingerprint }) => fingerprint === undefined).length
  }
}

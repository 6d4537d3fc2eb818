/** Number of rows in a request. */
export const PAGE_ROWS = 100
/** Maximum number of rows held. Others load again when they come into view. */
export const MAX_ROWS = 1000

/** The rows held, out of a list that may be much longer. */
export interface RowsHeld<Row> {
  readonly rows: readonly Row[]
  /** Number of known rows before `rows`. */
  readonly offset: number
  /** Number of known rows, held or not. */
  readonly count: number
  /** `true` until the end is known. */
  readonly hasMore: boolean
}

export interface PageOf<Row> {
  readonly rows: readonly Row[]
  /** Cursor of the next page; `undefined` on the last. */
  readonly next: string | undefined
}

/** A page to load. */
export interface PageRequest {
  readonly index: number
  readonly after: string | undefined
}

interface Known {
  readonly after: string | undefined
  readonly count: number
}

/**
 * A window on a paged list. It remembers the cursor of each page, and holds the rows of some adjacent pages. Rows in
 * memory are therefore bounded, and every part of the list can be shown again.
 */
export class PageWindow<Row> {
  #known: Known[] = []
  #next: string | undefined
  /** Index of the first page held. */
  #from = 0
  #held: (readonly Row[])[] = []
  #view: RowsHeld<Row> | undefined

  /** Returns the rows held, as the same object until something changes. */
  view(): RowsHeld<Row> {
    this.#view ??= {
      rows: this.#held.flat(),
      offset: this.#startOf(this.#from),
      count: this.#startOf(this.#known.length),
      hasMore: this.#next !== undefined,
    }
    return this.#view
  }

  /** Returns the next page to load for the rows from `first` to before `last`, if one is missing. */
  missing(first: number, last: number): PageRequest | undefined {
    const count = this.#startOf(this.#known.length)
    if (count > 0) {
      const wanted = [this.#pageAt(first), this.#pageAt(Math.min(last, count) - 1)] as const
      const index = this.#firstNotHeld(...wanted)
      if (index !== undefined) return { index, after: this.#known[index]?.after }
    }
    if (last < count || this.#next === undefined) return undefined
    return { index: this.#known.length, after: this.#next }
  }

  /** Adds a loaded page. If it ends elsewhere than before, the following pages load again. */
  put({ index, after }: PageRequest, { rows, next }: PageOf<Row>): void {
    this.#view = undefined
    const isSame = next !== undefined && this.#known[index + 1]?.after === next
    this.#known[index] = { after, count: rows.length }
    const to = this.#from + this.#held.length
    if (index === this.#from - 1 && isSame) this.#held = [rows, ...this.#held]
    else if (index === to && this.#held.length > 0) this.#held = [...this.#held, rows]
    else this.#held = [rows]
    if (this.#held[0] === rows) this.#from = index
    const following = this.#known[index + 1]
    if (next === undefined || following === undefined) {
      this.#known.length = index + 1
      this.#next = next
    } else this.#known[index + 1] = { ...following, after: next }
  }

  /** Releases pages far from the rows in view, until at most `MAX_ROWS` rows are held. */
  keepNear(first: number, last: number): void {
    let held = this.#held.reduce((sum, { length }) => sum + length, 0)
    while (held > MAX_ROWS && this.#held.length > 1) {
      const above = first - this.#startOf(this.#from)
      const below = this.#startOf(this.#from + this.#held.length) - last
      const isTop = above > below
      held -= (isTop ? this.#held[0] : this.#held.at(-1))?.length ?? 0
      this.#held = isTop ? this.#held.slice(1) : this.#held.slice(0, -1)
      if (isTop) this.#from++
      this.#view = undefined
    }
  }

  /** Replaces held rows, or removes those for which `change` returns `undefined`. */
  update(change: (row: Row) => Row | undefined): void {
    this.#view = undefined
    this.#held = this.#held.map((rows, index) => {
      const kept = rows.flatMap(row => change(row) ?? [])
      const at = this.#from + index
      const page = this.#known[at]
      if (page !== undefined) this.#known[at] = { ...page, count: kept.length }
      return kept
    })
  }

  /** Releases all rows, which may be outdated, and keeps the cursors of the pages. */
  letGo(): void {
    this.#view = undefined
    this.#held = []
  }

  /** `true` if the start of the list is held, so that rows can be added before it. */
  get isAtTop(): boolean {
    return this.#from === 0 && this.#held.length > 0
  }

  /** Adds rows at the top, and releases the end. `cursorOf` returns a row's cursor. */
  prepend(added: readonly Row[], cursorOf: (row: Row) => string): void {
    this.#view = undefined
    const all = [...added, ...this.#held.flat()]
    const end = this.#known[this.#held.length]?.after ?? this.#next
    const rows = all.slice(0, MAX_ROWS)
    this.#next = rows.length < all.length ? cursorOf(rows.at(-1) as Row) : end
    const starts = Array.from(
      { length: Math.max(1, Math.ceil(rows.length / PAGE_ROWS)) },
      (_, n) => n * PAGE_ROWS,
    )
    this.#held = starts.map(start => rows.slice(start, start + PAGE_ROWS))
    this.#known = this.#held.map(({ length }, n) => ({
      after: n === 0 ? undefined : cursorOf(rows[n * PAGE_ROWS - 1] as Row),
      count: length,
    }))
  }

  /** Inserts a row between two held ones. */
  insert(row: Row, order: (a: Row, b: Row) => number): void {
    this.#view = undefined
    const index = this.#held.findIndex(rows => rows.some(one => order(row, one) < 0))
    const rows = this.#held[index] ?? []
    const at = rows.findIndex(one => order(row, one) < 0)
    this.#held = this.#held.with(index, rows.toSpliced(at, 0, row))
    this.update(one => one)
  }

  /** Notes that a list whose end was known has more rows now. */
  extend(after: string): void {
    this.#view = undefined
    this.#next ??= after
  }

  #firstNotHeld(first: number, last: number): number | undefined {
    const to = this.#from + this.#held.length
    if (last < this.#from || first >= to) return first
    // Pages adjacent to those held load first, so that the held pages stay adjacent.
    if (first < this.#from) return this.#from - 1
    return last >= to ? to : undefined
  }

  #startOf(page: number): number {
    let start = 0
    for (let index = 0; index < page; index++) start += this.#known[index]?.count ?? 0
    return start
  }

  /** Returns the page with the row `index`, or the last page for a row beyond the end. */
  #pageAt(index: number): number {
    let start = 0
    for (const [page, { count }] of this.#known.entries()) {
      start += count
      if (index < start) return page
    }
    return this.#known.length - 1
  }
}

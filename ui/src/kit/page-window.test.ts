import { beforeEach, expect, test } from 'vitest'
import { MAX_ROWS, PAGE_ROWS, PageWindow } from './page-window.ts'

/** Simulates a server's list of ascending numbers. */
let list: number[]
let window: PageWindow<number>
let requests: number

beforeEach(() => {
  list = Array.from({ length: 3000 }, (_, n) => n + 1)
  window = new PageWindow()
  requests = 0
  load(0, undefined)
})

function load(index: number, after: string | undefined): void {
  const rest = list.filter(one => after === undefined || one > Number(after))
  const rows = rest.slice(0, PAGE_ROWS)
  requests++
  window.put({ index, after }, { rows, next: rest.length > PAGE_ROWS ? String(rows.at(-1)) : undefined })
}

/** Shows rows like a page, loading until none is missing. */
function show(first: number, last: number): readonly number[] {
  const limit = requests + 50
  for (
    let request = window.missing(first, last);
    request !== undefined && requests < limit;
    request = window.missing(first, last)
  ) {
    load(request.index, request.after)
    window.keepNear(first, last)
  }
  const { rows, offset } = window.view()
  expect(rows.length).toBeLessThanOrEqual(MAX_ROWS)
  return rows.slice(first - offset, last - offset)
}

/** Scrolls down until the end is known. */
function walkToEnd(): void {
  while (window.view().hasMore) {
    const { count } = window.view()
    show(count - 20, count + 20)
  }
}

test('scrolls a list to its end and back, and holds only a bounded number of rows', () => {
  walkToEnd()
  expect(window.view()).toMatchObject({ count: 3000, hasMore: false })
  expect(show(2980, 3000)).toEqual(list.slice(2980))
  for (let first = 2980; first >= 0; first -= 20)
    expect(show(first, first + 20)).toEqual(list.slice(first, first + 20))
  expect(window.isAtTop).toBe(true)
})

test('loads only the rows in view after a jump', () => {
  walkToEnd()
  requests = 0
  expect(show(1000, 1040)).toEqual(list.slice(1000, 1040))
  expect(show(0, 40)).toEqual(list.slice(0, 40))
  expect(requests).toBeLessThan(4)
})

test('neither repeats nor skips rows if released pages gained or lost some', () => {
  walkToEnd()
  list = list.filter(one => one < 510 || one >= 560)
  list.splice(300, 0, 300.25, 300.5)
  for (let first = 2900; first >= 0; first -= 20) show(first, first + 20)
  walkToEnd()
  const seen = new Set<number>()
  for (let first = 0; first < window.view().count; first += 20)
    for (const one of show(first, first + 20)) {
      expect(seen).not.toContain(one)
      seen.add(one)
    }
  expect([...seen]).toEqual(list)
})

test('releases the end when rows are added on top, and loads it again', () => {
  const added = Array.from({ length: MAX_ROWS }, (_, n) => n - MAX_ROWS)
  window.prepend(added, String)
  expect(window.view()).toMatchObject({ count: MAX_ROWS, hasMore: true })
  list = [...added, ...list]
  expect(show(MAX_ROWS - 20, MAX_ROWS + 20)).toEqual(list.slice(MAX_ROWS - 20, MAX_ROWS + 20))
})

test('inserts a row that now matches, and removes one that no longer does', () => {
  window.insert(10.5, (a, b) => a - b)
  window.update(one => (one === 3 ? undefined : one))
  expect(window.view().rows.slice(0, 11)).toEqual([1, 2, 4, 5, 6, 7, 8, 9, 10, 10.5, 11])
  expect(window.view().count).toBe(PAGE_ROWS)
})

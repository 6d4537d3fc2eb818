import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { ROW_PX, windowOf } from './window-of.ts'

export interface Column<Row> {
  readonly key: string
  readonly label: string
  readonly cell: (row: Row) => ComponentChildren
  /** CSS width of the column. */
  readonly width?: string
  readonly numeric?: boolean
  /** Hidden on narrow screens: `minor` first, `extra` only on a phone. */
  readonly rank?: 'minor' | 'extra'
  readonly sortable?: boolean
}

export interface Sort {
  readonly key: string
  readonly descending: boolean
}

interface DataTableProps<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  /** Key of the row that the keyboard is on. */
  readonly current?: string | undefined
  readonly sort?: Sort
  readonly onSort?: (sort: Sort) => void
  readonly selected?: ReadonlySet<string>
  readonly onSelect?: (selected: ReadonlySet<string>) => void
  /** Called when the last rows come into view. */
  readonly onNearEnd?: () => void
  readonly onScrolled?: (fromTop: number) => void
}

/** A real table that keeps only the rows in view in the document: 100,000 rows scroll like 40. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { caption, rows, rowKey, current, onNearEnd, onScrolled } = props
  const frame = useRef<HTMLDivElement>(null)
  const view = useSignal({ top: 0, height: 800 })
  const { first, last, above, below } = windowOf(rows.length, view.value.top, view.value.height)
  const measure = () => {
    const { scrollTop: top = 0, clientHeight: height = 800 } = frame.current ?? {}
    view.value = { top, height }
    onScrolled?.(top)
  }
  useEffect(measure, [])
  useEffect(() => {
    if (last >= rows.length) onNearEnd?.()
  }, [last, rows.length])
  useEffect(() => {
    if (current !== undefined)
      scrollTo(
        frame.current,
        rows.findIndex(row => rowKey(row) === current),
      )
  }, [current])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section class="table-frame tall" aria-label={caption} tabIndex={0} ref={frame} onScroll={measure}>
      <table aria-rowcount={rows.length + 1}>
        <caption class="visually-hidden">{caption}</caption>
        <Head {...props} />
        <tbody>
          <Spacer height={above} />
          {rows.slice(first, last).map((row, index) => (
            <Line key={rowKey(row)} {...props} row={row} index={first + index} />
          ))}
          <Spacer height={below} />
        </tbody>
      </table>
    </section>
  )
}

function Head<Row>({ columns, rows, rowKey, sort, onSort, selected, onSelect }: DataTableProps<Row>) {
  const all = rows.length > 0 && rows.every(row => selected?.has(rowKey(row)))
  return (
    <thead>
      <tr aria-rowindex={1}>
        {selected !== undefined && (
          <th scope="col" class="tick">
            <input
              type="checkbox"
              aria-label="Select all rows shown"
              checked={all}
              onChange={() => onSelect?.(new Set(all ? [] : rows.map(rowKey)))}
            />
          </th>
        )}
        {columns.map(column => (
          <th
            key={column.key}
            scope="col"
            class={classOf(column)}
            style={column.width === undefined ? undefined : { width: column.width }}
            aria-sort={column.sortable !== true ? undefined : orderOf(column.key, sort)}
          >
            {column.sortable === true ? (
              <button
                type="button"
                onClick={() =>
                  onSort?.({ key: column.key, descending: sort?.key !== column.key || !sort.descending })
                }
              >
                {column.label} <span aria-hidden="true">{arrowOf(column.key, sort)}</span>
              </button>
            ) : (
              column.label
            )}
          </th>
        ))}
      </tr>
    </thead>
  )
}

function Line<Row>(props: DataTableProps<Row> & { readonly row: Row; readonly index: number }) {
  const { columns, row, index, rowKey, current, selected, onSelect } = props
  const key = rowKey(row)
  const toggle = () => {
    const next = new Set(selected)
    if (!next.delete(key)) next.add(key)
    onSelect?.(next)
  }
  return (
    <tr class={current === key ? 'row current' : 'row'} aria-rowindex={index + 2}>
      {selected !== undefined && (
        <td class="tick">
          <input type="checkbox" aria-label={`Select ${key}`} checked={selected.has(key)} onChange={toggle} />
        </td>
      )}
      {columns.map(column => (
        <td key={column.key} class={classOf(column)}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  )
}

/** One cell: with a `colSpan` it would make columns of its own where some are hidden. */
function Spacer({ height }: { readonly height: number }) {
  if (height === 0) return null
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row without content takes no focus.
    <tr class="spacer" aria-hidden="true">
      <td style={{ height: `${height}px` }} />
    </tr>
  )
}

function classOf({ numeric, rank }: { readonly numeric?: boolean; readonly rank?: string }): string {
  return `${numeric === true ? 'number ' : ''}${rank ?? ''}`.trim()
}

function orderOf(key: string, sort: Sort | undefined): 'ascending' | 'descending' | 'none' {
  if (sort?.key !== key) return 'none'
  return sort.descending ? 'descending' : 'ascending'
}

function arrowOf(key: string, sort: Sort | undefined): string {
  if (sort?.key !== key) return '↕'
  return sort.descending ? '↓' : '↑'
}

function scrollTo(frame: HTMLElement | null, index: number): void {
  if (frame === null || index < 0) return
  const row = ROW_PX
  const top = (index + 1) * row
  if (top < frame.scrollTop + row) frame.scrollTop = top - row
  else if (top + row > frame.scrollTop + frame.clientHeight) frame.scrollTop = top + row - frame.clientHeight
}

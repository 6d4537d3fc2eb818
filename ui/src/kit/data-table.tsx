import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { keysAreOn, turnKeys } from './keys.ts'
import { isNarrow } from './narrow.ts'

export interface Column<Row> {
  readonly key: string
  readonly label: string
  readonly cell: (row: Row) => ComponentChildren
  /** CSS width of the column. */
  readonly width?: string
  readonly numeric?: boolean
  readonly sortable?: boolean
}

export interface Sort {
  readonly key: string
  readonly descending: boolean
}

/** Scroll positions, in pixels from the top. */
export interface ListPlace {
  /** Initial position. */
  readonly start: number
  /** Current position, kept up to date. */
  top: number
}

interface DataTableProps<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  /** Number of rows before `rows`. They take up space, as do all of `count`. */
  readonly offset?: number
  readonly count?: number
  /** Set if there are more rows than `count`. */
  readonly hasMore?: boolean
  /** Changes for a new list, which starts at `place`. */
  readonly turn?: number
  /** Start of a new list, and its current scroll position. */
  readonly place?: ListPlace
  readonly rowKey: (row: Row) => string
  /** Shows a row in two lines, in place of the columns on a narrow screen. */
  readonly compact?: (row: Row) => ComponentChildren
  /** Key of the row selected by keyboard. */
  readonly current?: string | undefined
  readonly sort?: Sort
  /** Sorts all rows, including those not loaded. Absent if that is impossible. */
  readonly onSort?: (sort: Sort) => void
  readonly selected?: ReadonlySet<string>
  readonly onSelect?: (selected: ReadonlySet<string>) => void
  /** Called with the range of rows to hold: those in view, and some around them. */
  readonly onView?: (first: number, last: number) => void
  readonly onScrolled?: (fromTop: number) => void
}

/** Minimum width of a flexible column. */
const FLEXIBLE = '9rem'

/** Number of rows up to which the table needs no scroll area. */
const FEW_ROWS = 6

/** A real table with only the rows in view in the document, so that 100,000 rows scroll like 40. */
export function DataTable<Row>(asked: DataTableProps<Row>) {
  const isCompact = asked.compact !== undefined && isNarrow.value
  const props = isCompact ? compacted(asked) : asked
  const rowPx = isCompact ? TWO_LINES_PX : ROW_PX
  const { caption, rows, rowKey, offset = 0, count = rows.length, turn = 0, onView, onScrolled } = props
  const { hasMore = false, current, place } = props
  const frame = useRef<HTMLDivElement>(null)
  // The row selected by keyboard gets the focus once it is in the document.
  const { current: focus } = useRef<{ due: string | undefined }>({ due: undefined })
  const view = useSignal({ top: place?.start ?? 0, height: 800 })
  const wanted = windowOf(count, view.value.top, view.value.height, rowPx)
  const first = Math.min(Math.max(wanted.first, offset), offset + rows.length)
  const last = Math.max(first, Math.min(wanted.last, offset + rows.length))
  const measure = () => {
    const { scrollTop: top = 0, clientHeight: height = 800 } = frame.current ?? {}
    view.value = { top, height }
    onScrolled?.(top)
  }
  useEffect(() => {
    frame.current?.scrollTo(0, place?.start ?? 0)
    measure()
  }, [turn])
  useEffect(() => onView?.(wanted.first, wanted.last), [wanted.first, wanted.last, count, turn])
  useLayoutEffect(() => {
    const index = rows.findIndex(row => rowKey(row) === current)
    if (index < 0) return
    focus.due = current
    scrollTo(frame.current, offset + index, rowPx)
  }, [current])
  // Focuses within the commit, before the next key.
  useLayoutEffect(() => focusRow(frame.current, focus))
  const onScroll = () => {
    measure()
    if (place !== undefined) place.top = view.peek().top
  }
  return (
    <section
      class={`table-frame${count > FEW_ROWS ? ' tall' : ''}${isCompact ? ' compact' : ''}`}
      aria-label={caption}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
      tabIndex={0}
      ref={frame}
      onScroll={onScroll}
    >
      <table
        aria-rowcount={hasMore ? -1 : count + 1}
        style={{ minWidth: isCompact ? '0' : widthOf(props.columns) }}
      >
        <caption class="visually-hidden">{caption}</caption>
        <Head {...props} />
        <tbody>
          <Spacer height={first * rowPx} />
          {rows.slice(first - offset, last - offset).map((row, index) => (
            <Line key={rowKey(row)} {...props} row={row} index={first + index} />
          ))}
          <Spacer height={(count - last) * rowPx} />
        </tbody>
      </table>
    </section>
  )
}

function Head<Row>({ columns, rows, rowKey, sort, onSort, selected, onSelect }: DataTableProps<Row>) {
  const keys = new Set(rows.map(rowKey))
  const others = [...(selected ?? [])].filter(key => !keys.has(key))
  const all = keys.size > 0 && [...keys].every(key => selected?.has(key))
  const toggled = new Set(all ? others : [...others, ...keys])
  return (
    <thead>
      <tr aria-rowindex={1}>
        {selected !== undefined && (
          <th scope="col" class="tick">
            <input
              type="checkbox"
              aria-label="Select all loaded rows"
              checked={all}
              onChange={() => onSelect?.(toggled)}
            />
          </th>
        )}
        {columns.map(column => (
          <th
            key={column.key}
            scope="col"
            class={column.numeric === true ? 'number' : undefined}
            style={column.width === undefined ? undefined : { width: column.width }}
            aria-sort={column.sortable !== true ? undefined : orderOf(column.key, sort)}
          >
            {column.sortable === true && onSort !== undefined ? (
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
  const { columns, row, index, rowKey, current, selected } = props
  const latest = useRef(props)
  latest.current = props
  const key = rowKey(row)
  const isCurrent = current === key
  const isSelected = selected?.has(key)
  const toggle = () => {
    const { selected: before, onSelect } = latest.current
    const next = new Set(before)
    if (!next.delete(key)) next.add(key)
    onSelect?.(next)
  }
  // An identical element is not compared again, so scrolling renders only new rows.
  return useMemo(
    () => (
      <tr class={isCurrent ? 'row current' : 'row'} aria-rowindex={index + 2}>
        {isSelected !== undefined && (
          <td class="tick">
            <input type="checkbox" aria-label={`Select ${key}`} checked={isSelected} onChange={toggle} />
          </td>
        )}
        {columns.map(column => (
          <td key={column.key} class={column.numeric === true ? 'number' : undefined}>
            {column.cell(row)}
          </td>
        ))}
      </tr>
    ),
    [columns, row, index, isCurrent, isSelected],
  )
}

/** A row with a single cell: a `colSpan` would add columns if some are hidden. */
function Spacer({ height }: { readonly height: number }) {
  if (height === 0) return null
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row without content takes no focus.
    <tr class="spacer" aria-hidden="true">
      <td style={{ height: `${height}px` }} />
    </tr>
  )
}

/** Returns the minimum width, below which the table scrolls sideways. */
function widthOf(columns: readonly { readonly width?: string }[]): string {
  return `calc(${columns.map(({ width = FLEXIBLE }) => width).join(' + ')})`
}

function focusRow(frame: HTMLElement | null, focus: { due: string | undefined }): void {
  const found =
    focus.due === undefined ? null : frame?.querySelector<HTMLElement>('tr.current :is(a, button)')
  if (found === null || found === undefined) return
  focus.due = undefined
  found.focus({ preventScroll: true })
}

function orderOf(key: string, sort: Sort | undefined): 'ascending' | 'descending' | 'none' {
  if (sort?.key !== key) return 'none'
  return sort.descending ? 'descending' : 'ascending'
}

function arrowOf(key: string, sort: Sort | undefined): string {
  if (sort?.key !== key) return '↕'
  return sort.descending ? '↓' : '↑'
}

function scrollTo(frame: HTMLElement | null, index: number, row: number): void {
  if (frame === null) return
  const top = (index + 1) * row
  if (top < frame.scrollTop + row) frame.scrollTop = top - row
  else if (top + row > frame.scrollTop + frame.clientHeight) frame.scrollTop = top + row - frame.clientHeight
}

/** One column instead of all, under the heading of the sorted one. */
function compacted<Row>(props: DataTableProps<Row>): DataTableProps<Row> {
  const { columns, compact = () => null, caption } = props
  const { key, label, sortable } = columns.find(column => column.sortable === true) ?? {
    ...{ key: 'row', label: caption, sortable: false },
  }
  return { ...props, columns: [{ key, label, sortable: sortable === true, cell: compact }] }
}

/** Height of a row of two lines in pixels, equal to `.compact` in kit.css. */
const TWO_LINES_PX = 60
/** Height of a row in pixels, equal to `--row` in tokens.css. */
export const ROW_PX = 40
const SPARE_ROWS = 12

/** Returns which of `count` rows to render at scroll position `top`, in a view of `height` pixels. */
export function windowOf(
  count: number,
  top: number,
  height: number,
  rowPx: number = ROW_PX,
): { readonly first: number; readonly last: number } {
  const first = Math.max(0, Math.min(count, Math.floor(top / rowPx)) - SPARE_ROWS)
  return { first, last: Math.min(count, Math.ceil((top + height) / rowPx) + SPARE_ROWS) }
}

/** Explains the single-key shortcuts, and turns them off or on. */
export function KeysHint({ children }: { readonly children: ComponentChildren }) {
  const isOn = keysAreOn()
  return (
    <p class="small quiet">
      {isOn ? children : 'Single-key shortcuts are off.'}{' '}
      <button type="button" class="plain small" onClick={() => turnKeys(!isOn)}>
        {isOn ? 'Turn shortcuts off' : 'Turn shortcuts on'}
      </button>
    </p>
  )
}

import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { timeOf, zoneOf } from './now.tsx'
import type { Plot } from './plot.ts'
import { formatCount } from './text.ts'

/** What a color means. `accent` and `faint` are for series that are neither good nor bad. */
export type ChartTone = 'good' | 'wait' | 'bad' | 'idle' | 'accent' | 'faint'

/** A series: bars, which are stacked from the first to the last, or a line. */
export interface ChartSeries {
  readonly name: string
  readonly tone: ChartTone
  readonly line?: 'solid' | 'dashed'
}

export interface ChartPoint {
  /** Start of its interval, in milliseconds since the epoch. */
  readonly at: number
  /** One value for each series; undefined where nothing was measured. */
  readonly values: readonly (number | undefined)[]
}

/** Points of equal width, oldest first. */
export interface ChartData {
  readonly points: readonly ChartPoint[]
  readonly widthMs: number
}

export interface ChartProps {
  readonly title: string
  /** Text beside the title: the unit, and the width of a point. */
  readonly detail: string | undefined
  readonly series: readonly ChartSeries[]
  /** Undefined while loading. The chart already has its full size, so that nothing below it moves. */
  readonly data: ChartData | undefined
  /** Formats a value with its unit. Default: a count. */
  readonly format?: (value: number) => string
  /** Figure of each series in the key. Default: the sum of a bar's values, the largest of a line's. */
  readonly figures?: readonly string[] | undefined
  /** Called with a chosen time, to show only that. `to` is exclusive. */
  readonly onRange?: ((from: number, to: number) => void) | undefined
}

/** First and last point of a range, both inclusive. */
export type PointRange = readonly [first: number, last: number]

/** A chart over time, whose values are also read by keyboard and in a table. It is drawn once it comes into view. */
export function Chart(props: ChartProps) {
  const { title, detail, data, onRange } = props
  const here = useSignal<number | undefined>(undefined)
  const range = useSignal<PointRange | undefined>(undefined)
  const isTable = useSignal(false)
  const choose = (chosen: PointRange) => {
    const [first, last] = [data?.points[chosen[0]], data?.points[chosen[1]]]
    if (first !== undefined && last !== undefined) onRange?.(first.at, last.at + (data?.widthMs ?? 0))
  }
  return (
    <figure class="panel chart">
      <figcaption class="bar">
        <h2>{title}</h2>
        <span class="small quiet">{detail}</span>
        <Key {...props} />
        <button
          type="button"
          class="plain small"
          aria-expanded={isTable.value}
          onClick={() => (isTable.value = !isTable.value)}
        >
          Table
        </button>
      </figcaption>
      <div class="plot">
        <Drawing {...props} here={here} range={range} choose={choose} />
        <Reader {...props} here={here} range={range} choose={choose} />
        <HoverCard {...props} here={here} />
      </div>
      {isTable.value && <Values {...props} />}
    </figure>
  )
}

interface PartProps extends ChartProps {
  /** Point under the pointer, or chosen by keyboard. */
  readonly here: Signal<number | undefined>
  readonly range: Signal<PointRange | undefined>
  readonly choose: (chosen: PointRange) => void
}

/** Draws the chart, for which code loads when it is first seen. Screen readers get its figures as one text. */
function Drawing(props: PartProps) {
  const { title, data, series, format, range, here, choose, onRange } = props
  const host = useRef<HTMLDivElement>(null)
  const plot = useRef<Plot | undefined>(undefined)
  const latest = useRef({ data, choose })
  latest.current = { data, choose }
  const names = series.map(({ name, line }) => `${name} ${line}`).join()
  useEffect(() => {
    const element = host.current
    if (element === null) return
    let isGone = false
    const stop = whenSeen(element, () =>
      import('./plot.ts').then(
        ({ createPlot }) => {
          if (isGone) return
          plot.current = createPlot(element, {
            series,
            format: format ?? formatCount,
            onPoint: index => (here.value = index),
            onRange: onRange === undefined ? undefined : chosen => latest.current.choose(chosen),
          })
          if (latest.current.data !== undefined) plot.current.show(latest.current.data)
        },
        // Without its code the chart stays empty; its key and its table remain.
        () => {},
      ),
    )
    return () => {
      isGone = true
      stop()
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [names])
  useLayoutEffect(() => {
    if (data !== undefined) plot.current?.show(data)
  }, [data])
  useEffect(() => plot.current?.markPoint(here.value), [here.value])
  useEffect(() => plot.current?.markRange(range.value), [range.value])
  const figures = figuresOf(props)
    .map(({ name, text }) => `${text} ${name}`)
    .join(', ')
  const label = data === undefined ? `${title}: loading` : `${title}: ${figures}`
  return <div ref={host} class="canvas" role="img" aria-label={label} />
}

/** Calls `seen` once the element is in view. Returns a function that stops waiting. */
function whenSeen(element: Element, seen: () => void): () => void {
  const observer = new IntersectionObserver(entries => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return
    observer.disconnect()
    seen()
  })
  observer.observe(element)
  return () => observer.disconnect()
}

/** Reads the chart by keyboard: a slider over its points, whose value is spoken. */
function Reader({ title, data, series, format = formatCount, here, range, choose, onRange }: PartProps) {
  const last = (data?.points.length ?? 1) - 1
  const anchor = useRef<number | undefined>(undefined)
  const index = Math.min(here.value ?? last, last)
  const point = data?.points[index]
  const onKeyDown = (event: KeyboardEvent) => {
    const to = targetOf(event.key, here.peek() === undefined ? last + 1 : index, last)
    if (to !== undefined) {
      anchor.current = event.shiftKey && onRange !== undefined ? (anchor.current ?? index) : undefined
      here.value = to
      const from = anchor.current
      range.value = from === undefined ? undefined : [Math.min(from, to), Math.max(from, to)]
    } else if (event.key === 'Enter' && onRange !== undefined && here.peek() !== undefined)
      choose(range.peek() ?? [index, index])
    else if (event.key === 'Escape') clear()
    else return
    event.preventDefault()
  }
  const clear = () => {
    anchor.current = undefined
    here.value = undefined
    range.value = undefined
  }
  const keys = onRange === undefined ? '' : ', with Shift selects, Enter shows only these'
  return (
    <div
      class="reader"
      role="slider"
      tabIndex={0}
      aria-label={`${title}: ← and → read the values${keys}`}
      aria-valuemin={0}
      aria-valuemax={Math.max(last, 0)}
      aria-valuenow={Math.max(index, 0)}
      aria-valuetext={point === undefined ? 'no values' : sayPoint(point, series, format)}
      onKeyDown={onKeyDown}
      onBlur={clear}
    />
  )
}

/** Returns the point that a key leads to. */
function targetOf(key: string, from: number, last: number): number | undefined {
  const targets: Readonly<Record<string, number>> = {
    ArrowLeft: from - 1,
    ArrowRight: from + 1,
    Home: 0,
    End: last,
    PageUp: from - 10,
    PageDown: from + 10,
  }
  const to = targets[key]
  return to === undefined ? undefined : Math.max(0, Math.min(last, to))
}

function sayPoint(
  { at, values }: ChartPoint,
  series: readonly ChartSeries[],
  format: (value: number) => string,
): string {
  const parts = series.flatMap(({ name }, index) => {
    const value = values[index]
    return value === undefined || value === 0 ? [] : [`${format(value)} ${name}`]
  })
  return `${timeOf(new Date(at))}: ${parts.length === 0 ? 'none' : parts.join(', ')}`
}

/** Shows the values of the point under the pointer, in the half of the chart where the pointer is not. */
function HoverCard({
  data,
  series,
  format = formatCount,
  here,
}: PartProps | (ChartProps & Pick<PartProps, 'here'>)) {
  const index = here.value
  const point = index === undefined ? undefined : data?.points[index]
  if (point === undefined || index === undefined || data === undefined) return null
  const isLeft = index < data.points.length / 2
  const shown = series.flatMap((one, at) => {
    const value = point.values[at]
    return value === undefined || (value === 0 && one.line === undefined) ? [] : [{ ...one, value }]
  })
  return (
    <div class={isLeft ? 'hover right' : 'hover left'} aria-hidden="true">
      <b>
        {timeOf(new Date(point.at))} {zoneOf(new Date(point.at))}
      </b>
      {shown.length === 0 && <span class="quiet">none</span>}
      {shown.map(({ name, tone, value }) => (
        <span key={name}>
          <i class={tone} />
          {name} <b>{format(value)}</b>
        </span>
      ))}
    </div>
  )
}

interface Figure extends ChartSeries {
  readonly text: string
  readonly isZero: boolean
}

function figuresOf({ series, data, figures, format = formatCount }: ChartProps): readonly Figure[] {
  return series.map((one, at) => {
    const values = (data?.points ?? []).flatMap(({ values }) => values[at] ?? [])
    const figure =
      one.line === undefined ? values.reduce((sum, value) => sum + value, 0) : Math.max(0, ...values)
    const text = figures?.[at] ?? format(figure)
    return { ...one, text: data === undefined ? '–' : text, isZero: figure === 0 }
  })
}

/** Names the series with their figures. Its colors are those that the drawing uses. */
function Key(props: ChartProps) {
  return (
    <ul class="key push small" aria-label="Figures">
      {figuresOf(props).map(({ name, tone, text, isZero }) => (
        <li key={name} class={isZero ? 'quiet' : ''}>
          <i class={tone} data-series={name} />
          {name} <b>{text}</b>
        </li>
      ))}
    </ul>
  )
}

/** The values as a table, without the points that have none. */
function Values({ title, data, series, format = formatCount }: ChartProps) {
  const rows = useMemo(
    () => data?.points.filter(({ values }) => values.some(value => (value ?? 0) !== 0)) ?? [],
    [data],
  )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section class="table-frame values" aria-label={`${title}, as a table`} tabIndex={0}>
      <table>
        <caption class="visually-hidden">{title}</caption>
        <thead>
          <tr>
            <th scope="col">From ({zoneOf()})</th>
            {series.map(({ name }) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ at, values }) => (
            <tr key={at} class="row">
              <td>{timeOf(new Date(at))}</td>
              {series.map(({ name }, index) => (
                <td key={name} class="number">
                  {values[index] === undefined ? '' : format(values[index])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p class="quiet">No values.</p>}
    </section>
  )
}

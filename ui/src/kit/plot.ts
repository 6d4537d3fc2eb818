import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { ChartData, ChartSeries, PointRange } from './chart.tsx'
import { timeOf } from './now.tsx'

interface PlotOptions {
  readonly series: readonly ChartSeries[]
  /** Formats a value with its unit. */
  readonly format: (value: number) => string
  /** Called with the point under the pointer; undefined once it has left. */
  readonly onPoint: (index: number | undefined) => void
  /** Called with the points that were dragged over or clicked. Without it, the pointer selects nothing. */
  readonly onRange: ((range: PointRange) => void) | undefined
}

/** A drawn chart. */
export interface Plot {
  show(data: ChartData): void
  /** Marks a point that was chosen by keyboard. */
  markPoint(index: number | undefined): void
  /** Marks a range that was chosen by keyboard. */
  markRange(range: PointRange | undefined): void
  destroy(): void
}

const HEIGHT = 132
const SECOND = 1000
const DAY = 86_400_000
/** Fewest pixels of a drag; anything shorter is a click. */
const DRAG_PX = 4

/** Draws a chart into `host`, in the colors of the key beside it. It follows the size of `host` and the color scheme. */
export function createPlot(host: HTMLElement, options: PlotOptions): Plot {
  const { series, onPoint } = options
  // Bars are drawn as sums, the highest first, so that each covers the lower part of the one before.
  const bars = series.flatMap((one, index) => (one.line === undefined ? [index] : [])).toReversed()
  const lines = series.flatMap((one, index) => (one.line === undefined ? [] : [index]))
  const order = [...bars, ...lines]
  let shown: ChartData = { points: [], widthMs: SECOND }
  const plot = new uPlot(
    {
      width: host.clientWidth,
      height: HEIGHT,
      ms: 1,
      legend: { show: false },
      padding: [8, 28, 0, 0],
      scales: { x: { range: () => extentOf(shown) }, y: { range: (_, __, max) => [0, roomFor(max)] } },
      axes: axesOf(host, options),
      series: [{}, ...order.map(index => seriesOf(host, series, index))],
      cursor: cursorOf(options),
      hooks: {
        setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)],
        setSelect: [self => selected(self, shown, options)],
      },
    },
    [[]],
    host,
  )
  watchClicks(plot, options)
  const size = new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height: HEIGHT }))
  size.observe(host)
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  const redraw = () => plot.redraw(false)
  scheme.addEventListener('change', redraw)
  return {
    show(data) {
      shown = data
      plot.setData(columnsOf(data, bars, lines))
    },
    markPoint: index => markPoint(plot, shown, index),
    markRange: range => markRange(plot, shown, range),
    destroy() {
      scheme.removeEventListener('change', redraw)
      size.disconnect()
      plot.destroy()
    },
  }
}

function extentOf({ points, widthMs }: ChartData): [number, number] {
  const [first, last] = [points[0]?.at ?? 0, points.at(-1)?.at ?? 0]
  return [first, last + widthMs]
}

/** Leaves some room above the maximum. */
function roomFor(max: number | null): number {
  return max === null || max <= 0 ? 1 : max * 1.08
}

/** Returns uPlot's columns: the times, the sums of the bars and the values of the lines, in the order of drawing. */
function columnsOf(
  { points }: ChartData,
  bars: readonly number[],
  lines: readonly number[],
): uPlot.AlignedData {
  const at = points.map(point => point.at)
  const sums = bars.map((_, place) =>
    points.map(({ values }) => bars.slice(place).reduce((sum, index) => sum + (values[index] ?? 0), 0)),
  )
  const values = lines.map(index => points.map(point => point.values[index] ?? null))
  return [at, ...sums, ...values]
}

function seriesOf(host: HTMLElement, all: readonly ChartSeries[], index: number): uPlot.Series {
  const { name = '', line } = all[index] ?? {}
  const color = () => colorOf(host, name)
  if (line === undefined) {
    const paths = uPlot.paths.bars?.({ size: [0.8, 48], align: 1 })
    return { fill: color, width: 0, points: { show: false }, ...(paths !== undefined && { paths }) }
  }
  return {
    stroke: color,
    width: 2,
    ...(line === 'dashed' && { dash: [6, 4] }),
    points: { show: false, size: 7, fill: color, filter: (plot, at) => lonelyIn(plot.data[at] ?? []) },
  }
}

/** Returns the points without a neighbor. No line leads to them, so they are drawn as dots. */
function lonelyIn(values: ArrayLike<number | null | undefined>): number[] {
  const isNone = (index: number) => values[index] === null || values[index] === undefined
  return Array.from(values, (_, at) => at).filter(at => !isNone(at) && isNone(at - 1) && isNone(at + 1))
}

/** Returns the color of a series, which the key shows. A custom property would be an unresolved `light-dark()`. */
function colorOf(host: HTMLElement, name: string): string {
  const swatch = host.closest('figure')?.querySelector(`[data-series="${CSS.escape(name)}"]`)
  return swatch === null || swatch === undefined ? '' : getComputedStyle(swatch).backgroundColor
}

function axesOf(host: HTMLElement, { format }: PlotOptions): uPlot.Axis[] {
  const stroke = () => getComputedStyle(host).color
  const line = () => getComputedStyle(host).borderTopColor
  const { fontFamily } = getComputedStyle(host)
  const shared = { stroke, font: `12px ${fontFamily}`, ticks: { stroke: line, width: 1, size: 4 } }
  return [
    { ...shared, grid: { show: false }, size: 28, space: 80, values: (_, times) => timesOf(times) },
    {
      ...shared,
      grid: { stroke: line, width: 1 },
      size: (_, values) => 12 + 7 * Math.max(2, ...(values ?? []).map(({ length }) => length)),
      space: 30,
      incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7],
      values: (_, values) => values.map(format),
    },
  ]
}

/** Formats the times of the axis: with the date where the day changes, with seconds only if needed. */
function timesOf(times: readonly number[]): string[] {
  const step = (times[1] ?? DAY) - (times[0] ?? 0)
  const texts = times.map(time => timeOf(new Date(time)))
  return texts.map((text, index) => {
    const date = text.slice(5, 10)
    if (step >= DAY) return date
    const before = texts[index - 1]?.slice(5, 10) ?? date
    return before === date ? text.slice(11, step < 60 * SECOND ? 19 : 16) : date
  })
}

function cursorOf({ onRange }: PlotOptions): uPlot.Cursor {
  return {
    x: true,
    y: false,
    points: { show: false },
    drag: { x: onRange !== undefined, y: false, setScale: false },
    // A bar begins at its time, so the pointer is over the one that began last.
    dataIdx: (self, _, __, x) => {
      const times = self.data[0]
      let index = times.length - 1
      while (index > 0 && (times[index] ?? 0) > x) index--
      return index
    },
  }
}

function selected(plot: uPlot, { points }: ChartData, { onRange }: PlotOptions): void {
  const { left, width } = plot.select
  if (width < DRAG_PX || onRange === undefined || plot.cursor.event?.type !== 'mouseup') return
  const indexAt = (px: number) => {
    const time = plot.posToVal(px, 'x')
    return Math.max(
      0,
      points.findLastIndex(({ at }) => at <= time),
    )
  }
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
  onRange([indexAt(left), indexAt(left + width - 1)])
}

/** A click selects one point. The end of a drag is a click for the browser, too. */
function watchClicks(plot: uPlot, { onRange }: PlotOptions): void {
  if (onRange === undefined) return
  let downAt = 0
  plot.over.addEventListener('mousedown', event => (downAt = event.clientX))
  plot.over.addEventListener('click', ({ clientX }) => {
    const { idx } = plot.cursor
    if (Math.abs(clientX - downAt) < DRAG_PX && typeof idx === 'number') onRange([idx, idx])
  })
}

function markPoint(plot: uPlot, { points, widthMs }: ChartData, index: number | undefined): void {
  const point = index === undefined ? undefined : points[index]
  if (point === undefined) {
    if ((plot.cursor.left ?? -1) >= 0) plot.setCursor({ left: -10, top: -10 }, false)
  } else if (plot.cursor.idx !== index)
    plot.setCursor({ left: plot.valToPos(point.at + widthMs / 2, 'x'), top: 0 }, false)
}

function markRange(plot: uPlot, { points, widthMs }: ChartData, range: PointRange | undefined): void {
  const [first, last] = [points[range?.[0] ?? -1], points[range?.[1] ?? -1]]
  const left = first === undefined ? 0 : plot.valToPos(first.at, 'x')
  const width = last === undefined ? 0 : plot.valToPos(last.at + widthMs, 'x') - left
  plot.setSelect({ left, top: 0, width, height: plot.over.clientHeight }, false)
}

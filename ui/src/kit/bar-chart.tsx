import type { Tone } from './elements.tsx'
import { zoneOf } from './now.tsx'
import { formatCount } from './text.ts'

/** Parts of a bar, from bottom to top. */
export interface Series {
  readonly name: string
  readonly tone: Tone
}

export interface Bar {
  readonly label: string
  /** One value for each series. */
  readonly values: readonly number[]
}

interface BarChartProps {
  readonly title: string
  /** Text beside the title, such as the width of a bar. */
  readonly detail: string | undefined
  readonly series: readonly Series[]
  /** Undefined while loading. The chart already has its full size, so that nothing below it moves. */
  readonly bars: readonly Bar[] | undefined
}

const HEIGHT = 80

/** Stacked bars over time, with the totals as text for screen readers. */
export function BarChart({ title, detail, series, bars: known }: BarChartProps) {
  const bars = known ?? []
  const highest = Math.max(1, ...bars.map(({ values }) => sumOf(values)))
  const totals = series.map(({ name, tone }, at) => ({
    name,
    tone,
    total: sumOf(bars.map(({ values }) => values[at] ?? 0)),
  }))
  const summary = totals.map(({ name, total }) => `${formatCount(total)} ${name}`).join(', ')
  return (
    <figure class="panel">
      <figcaption class="bar">
        <h2>{title}</h2>
        <span class="small quiet">{detail}</span>
        <ul class="key push small" aria-label="Totals">
          {totals.map(({ name, tone, total }) => (
            <li key={name} class={total === 0 ? 'quiet' : ''}>
              <i class={tone} />
              {name} <b>{known === undefined ? '–' : formatCount(total)}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <svg
        class="chart"
        viewBox={`0 0 ${bars.length * 4} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={known === undefined ? `${title}: loading` : `${title}: ${summary}`}
      >
        {bars.map((bar, index) => (
          <Stack key={bar.label} series={series} bar={bar} x={index * 4} scale={HEIGHT / highest} />
        ))}
      </svg>
      <div class="legend">
        <span>
          {bars[0]?.label} {zoneOf()}
        </span>
        <span class="push">{bars.at(-1)?.label}</span>
      </div>
    </figure>
  )
}

interface StackProps {
  readonly series: readonly Series[]
  readonly bar: Bar
  readonly x: number
  readonly scale: number
}

function Stack({ series, bar: { label, values }, x, scale }: StackProps) {
  const parts = series.flatMap(({ name, tone }, at) => {
    const value = values[at] ?? 0
    return value === 0 ? [] : [{ name, tone, value, below: sumOf(values.slice(0, at)) }]
  })
  if (parts.length === 0) return null
  return (
    <g>
      <title>{`${label}: ${parts.map(({ name, value }) => `${formatCount(value)} ${name}`).join(', ')}`}</title>
      {parts.map(({ name, tone, value, below }) => (
        <rect
          key={name}
          class={tone}
          x={x}
          y={HEIGHT - (below + value) * scale}
          width={3}
          height={value * scale}
        />
      ))}
    </g>
  )
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

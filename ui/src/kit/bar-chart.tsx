import type { Tone } from './badge.tsx'

export interface Bar {
  readonly label: string
  readonly values: Readonly<Partial<Record<Exclude<Tone, 'idle'>, number>>>
}

interface BarChartProps {
  readonly title: string
  readonly bars: readonly Bar[]
  readonly names: Readonly<Partial<Record<Exclude<Tone, 'idle'>, string>>>
}

const HEIGHT = 80
const TONES = ['good', 'wait', 'bad'] as const

/** Stacked bars over time. The same numbers stand in its text for those who cannot see it. */
export function BarChart({ title, bars, names }: BarChartProps) {
  const totals = bars.map(({ values }) => TONES.reduce((sum, tone) => sum + (values[tone] ?? 0), 0))
  const highest = Math.max(1, ...totals)
  const summary = TONES.filter(tone => names[tone] !== undefined)
    .map(
      tone =>
        `${names[tone]} ${bars.reduce((sum, { values }) => sum + (values[tone] ?? 0), 0).toLocaleString()}`,
    )
    .join(', ')
  return (
    <figure class="panel">
      <figcaption class="bar">
        <h2>{title}</h2>
        <span class="push small quiet">{summary}</span>
      </figcaption>
      <svg
        class="chart"
        viewBox={`0 0 ${bars.length * 4} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${summary}`}
      >
        {bars.map((bar, index) => (
          <Stack key={bar.label} bar={bar} x={index * 4} scale={HEIGHT / highest} />
        ))}
      </svg>
      <div class="legend">
        <span>{bars[0]?.label}</span>
        <span class="push">{bars.at(-1)?.label}</span>
      </div>
    </figure>
  )
}

function Stack({ bar, x, scale }: { readonly bar: Bar; readonly x: number; readonly scale: number }) {
  let top = HEIGHT
  return (
    <g>
      <title>{`${bar.label}: ${TONES.map(tone => bar.values[tone] ?? 0).join(' / ')}`}</title>
      {TONES.map(tone => {
        const height = (bar.values[tone] ?? 0) * scale
        top -= height
        return height > 0 && <rect key={tone} class={tone} x={x} y={top} width={3} height={height} />
      })}
    </g>
  )
}

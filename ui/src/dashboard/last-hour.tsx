import type { Minute } from '../../../packages/dashboard/src/protocol/protocol.ts'
import type { Tone } from '../kit/elements.tsx'
import { zoneOf } from '../kit/now.tsx'
import { formatCount } from '../kit/text.ts'

interface LastHourProps {
  readonly minutes: readonly Minute[]
  /** Number of events that are waiting or running now. */
  readonly depth: number
}

/** Shows whether the queue grows: events received and ended, and events waiting at the end of each minute. */
export function LastHour({ minutes, depth }: LastHourProps) {
  const depths = depthsOf(minutes, depth)
  const highest = Math.max(...depths)
  return (
    <>
      <p>{verdictOf(minutes)}</p>
      <div class="columns">
        <Chart
          title="Received and ended"
          minutes={minutes}
          series={[
            { name: 'received', tone: 'idle', total: sumOf(minutes, 'received') },
            { name: 'handled', tone: 'good', total: sumOf(minutes, 'handled') },
            { name: 'dead letters', tone: 'bad', total: sumOf(minutes, 'deadLettered') },
          ]}
          stacks={minutes.map(({ received = 0, handled, deadLettered }) => [
            [['idle', received]],
            [
              ['good', handled],
              ['bad', deadLettered],
            ],
          ])}
        />
        <Chart
          title="Pending or active"
          minutes={minutes}
          series={[
            { name: 'now', tone: 'wait', total: depth },
            { name: 'peak', tone: 'wait', total: highest },
          ]}
          stacks={depths.map(value => [[['wait', value]]])}
        />
      </div>
    </>
  )
}

function verdictOf(minutes: readonly Minute[]): string {
  const [received, handled, dead] = [
    sumOf(minutes, 'received'),
    sumOf(minutes, 'handled'),
    sumOf(minutes, 'deadLettered'),
  ]
  const growth = received - handled - dead
  const came = `In the last hour, ${formatCount(received)} were received and ${formatCount(handled + dead)} ended`
  if (growth === 0) return `${came}: the queue stayed the same.`
  return growth > 0
    ? `${came}: the queue grew by ${formatCount(growth)}.`
    : `${came}: the queue shrank by ${formatCount(-growth)}.`
}

/** Counts back from now. Discards and uncounted older events may distort it, so it never falls below zero. */
function depthsOf(minutes: readonly Minute[], depth: number): readonly number[] {
  let after = depth
  return minutes
    .toReversed()
    .map(({ received = 0, handled, deadLettered }) => {
      const here = after
      after = Math.max(0, after - received + handled + deadLettered)
      return here
    })
    .toReversed()
}

function sumOf(minutes: readonly Minute[], name: 'received' | 'handled' | 'deadLettered'): number {
  return minutes.reduce((sum, minute) => sum + (minute[name] ?? 0), 0)
}

type Part = readonly [tone: Tone, value: number]

interface ChartProps {
  readonly title: string
  readonly minutes: readonly Minute[]
  readonly series: readonly { readonly name: string; readonly tone: Tone; readonly total: number }[]
  /** For each minute, adjacent bars with their parts from bottom to top. */
  readonly stacks: readonly (readonly (readonly Part[])[])[]
}

const HEIGHT = 80
const MINUTE_WIDTH = 6

/** Chart whose bars share a scale, with the totals as text for screen readers. */
function Chart({ title, minutes, series, stacks }: ChartProps) {
  const heightOf = (parts: readonly Part[]) => parts.reduce((sum, [, value]) => sum + value, 0)
  const scale = HEIGHT / Math.max(1, ...stacks.flat().map(heightOf))
  const summary = series.map(({ name, total }) => `${formatCount(total)} ${name}`).join(', ')
  return (
    <figure class="panel">
      <figcaption class="bar">
        <h2>{title}</h2>
        <ul class="key push small" aria-label="Totals">
          {series.map(({ name, tone, total }) => (
            <li key={name} class={total === 0 ? 'quiet' : ''}>
              <i class={tone} />
              {name} <b>{formatCount(total)}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <svg
        class="chart"
        viewBox={`0 0 ${stacks.length * MINUTE_WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}, by minute: ${summary}`}
      >
        {stacks.flatMap((stack, minute) => {
          const width = (MINUTE_WIDTH - 1) / stack.length
          return stack.flatMap((parts, at) =>
            parts.map(([tone, value], part) => (
              <rect
                key={`${minute} ${tone}`}
                class={tone}
                x={minute * MINUTE_WIDTH + at * width}
                y={HEIGHT - heightOf(parts.slice(0, part + 1)) * scale}
                width={width}
                height={value * scale}
              />
            )),
          )
        })}
      </svg>
      <div class="legend">
        <span>
          {labelOf(minutes[0])} {zoneOf()}
        </span>
        <span class="push">{labelOf(minutes.at(-1))}</span>
      </div>
    </figure>
  )
}

function labelOf(minute: Minute | undefined): string {
  if (minute === undefined) return ''
  return new Date(minute.at).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
}

const ROW = 22
const LABEL = 170
const WIDTH = 760
const SCALE = 440
const TITLE = 'Speed of webhook receivers, 2 KB bodies: ratio to a hand-written one on the same framework'

const NOTHING = 'The code has changed since the last measurement; npm run bench measures it again.'

/**
 * Draws the HTTP comparison as a bar chart: requests per unit of processor time, with each bar's 95 % interval. Undecided
 * ratios are omitted. Text and lines follow the reader's color scheme, by a media query inside the image.
 *
 * @param {{ framework: string, bars: { variant: string, cpu: ReturnType<typeof import('./interval.mjs').meanInterval> }[] }[]} groups
 */
export function drawHttpChart(groups) {
  const decided = groups.map(({ framework, bars }) => ({
    framework,
    bars: bars.filter(({ cpu }) => cpu.isNarrow).toSorted((a, b) => b.cpu.middle - a.cpu.middle),
  }))
  const unit = SCALE / Math.max(1, ...decided.flatMap(({ bars }) => bars.map(({ cpu }) => cpu.high)))
  const parts = []
  let y = 58
  for (const { framework, bars } of decided) {
    parts.push(`<text class="head" x="16" y="${y}">${framework}</text>`)
    y += 10
    for (const bar of bars) {
      parts.push(...drawBar(bar, y, unit))
      y += ROW
    }
    y += 22
  }
  if (decided.length === 0) {
    parts.push(`<text x="16" y="${y}">${NOTHING}</text>`)
    y += ROW
  }
  const line = at(1, unit)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" role="img" aria-label="${TITLE}">
<style>
text { font: 13px system-ui, sans-serif; fill: #57606a }
.head { font-weight: 600; fill: #1f2328 } text.ours { font-weight: 600; fill: #1a7f37 }
rect.ours { fill: #2da44e } rect.hand { fill: #6e7781 } rect.other { fill: #b6bec7 }
line { stroke: #6e7781; stroke-dasharray: 3 3 } path { stroke: #1f2328; fill: none }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1 } .head { fill: #f0f6fc } text.ours { fill: #3fb950 }
rect.ours { fill: #2ea043 } rect.hand { fill: #8b949e } rect.other { fill: #484f58 } line { stroke: #8b949e }
path { stroke: #f0f6fc }
}
</style>
<text class="head" x="16" y="24">${TITLE}</text>
${decided.length === 0 ? '' : `<line x1="${line}" y1="42" x2="${line}" y2="${y - 16}"/>`}
${parts.join('\n')}
</svg>
`
}

function drawBar({ variant, cpu }, y, unit) {
  const kind = variant === 'ackhook' ? 'ours' : variant === 'hand-written' ? 'hand' : 'other'
  const left = LABEL + 10
  const [low, end, high] = [cpu.low, cpu.middle, cpu.high].map(value => at(value, unit))
  return [
    `<text class="${kind}" x="${LABEL}" y="${y + 12}" text-anchor="end">${variant}</text>`,
    `<rect class="${kind}" x="${left}" y="${y + 2}" width="${(end - left).toFixed(1)}" height="13" rx="2"/>`,
    `<path d="M${low} ${y + 5}v7M${low} ${y + 8.5}H${high}M${high} ${y + 5}v7"/>`,
    `<text x="${(Number(high) + 8).toFixed(1)}" y="${y + 12}">${cpu.middle.toFixed(2)}</text>`,
  ]
}

function at(value, unit) {
  return (LABEL + 10 + value * unit).toFixed(1)
}

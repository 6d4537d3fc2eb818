const ROW = 22
const LABEL = 170
const WIDTH = 760
const SCALE = 380

/**
 * The HTTP comparison as a bar chart. Text and lines take the colour scheme of the reader, by a media query inside
 * the image.
 *
 * @param {{ framework: string, bars: { variant: string, speed: { middle: number } }[] }[]} groups
 */
export function drawHttpChart(groups) {
  const parts = []
  const longest = Math.max(...groups.flatMap(group => group.bars.map(bar => bar.speed.middle)))
  const unit = SCALE / longest
  let y = 58
  for (const { framework, bars } of groups) {
    parts.push(`<text class="head" x="16" y="${y}">${framework}</text>`)
    y += 10
    for (const { variant, speed } of bars.toSorted((a, b) => b.speed.middle - a.speed.middle)) {
      const kind = variant === 'ackhook' ? 'ours' : variant === 'by hand' ? 'hand' : 'other'
      const width = (speed.middle * unit).toFixed(1)
      parts.push(
        `<text class="${kind}" x="${LABEL}" y="${y + 12}" text-anchor="end">${variant === 'by hand' ? 'hand-written' : variant}</text>`,
        `<rect class="${kind}" x="${LABEL + 10}" y="${y + 2}" width="${width}" height="13" rx="2"/>`,
        `<text x="${LABEL + 18 + Number(width)}" y="${y + 12}">${speed.middle.toFixed(2)}</text>`,
      )
      y += ROW
    }
    y += 22
  }
  const line = (LABEL + 10 + unit).toFixed(1)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" role="img" aria-label="Requests per second of webhook receivers, as a ratio to a hand-written one on the same framework">
<style>
text { font: 13px system-ui, sans-serif; fill: #57606a }
.head { font-weight: 600; fill: #1f2328 } text.ours { font-weight: 600; fill: #1a7f37 }
rect.ours { fill: #2da44e } rect.hand { fill: #6e7781 } rect.other { fill: #b6bec7 }
line { stroke: #6e7781; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1 } .head { fill: #f0f6fc } text.ours { fill: #3fb950 }
rect.ours { fill: #2ea043 } rect.hand { fill: #8b949e } rect.other { fill: #484f58 } line { stroke: #8b949e }
}
</style>
<text class="head" x="16" y="24">Requests per second, 2 KB bodies: ratio to a hand-written receiver on the same framework</text>
<line x1="${line}" y1="42" x2="${line}" y2="${y - 16}"/>
${parts.join('\n')}
</svg>
`
}

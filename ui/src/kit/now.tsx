import { type ReadonlySignal, signal } from '@preact/signals'

const second = signal(Date.now())
setInterval(() => {
  if (document.visibilityState === 'visible') second.value = Date.now()
}, 1000)

/** The time on this machine, once a second. */
export const now: ReadonlySignal<number> = second

/** A time as its distance from now, with the full time as the title. */
export function Ago({ at, from = now }: { at: number; from?: ReadonlySignal<number> }) {
  const date = new Date(at)
  return (
    <time dateTime={date.toISOString()} title={timeOf(date)}>
      {distance(at - from.value)}
    </time>
  )
}

/** `2026-11-22 16:05:09`, where the reader is. Without `Intl`, which takes longer to load than a list to be drawn. */
function timeOf(date: Date): string {
  const [month, day, hour, minute, second] = [
    date.getMonth() + 1,
    date.getDate(),
    date.getHours(),
    date.getMinutes(),
    date.getSeconds(),
  ].map(part => String(part).padStart(2, '0'))
  return `${date.getFullYear()}-${month}-${day} ${hour}:${minute}:${second}`
}

export function distance(ms: number): string {
  if (Math.abs(ms) < 1000) return 'now'
  return ms < 0 ? `${spanOf(-ms, 1)} ago` : `in ${spanOf(ms)}`
}

/** `1 h 12 min`: the largest units. */
export function spanOf(ms: number, units = 2): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = Math.floor(ms / 1000)
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
  const first = parts.findIndex(([count]) => count > 0)
  return parts
    .slice(first, first + units)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}

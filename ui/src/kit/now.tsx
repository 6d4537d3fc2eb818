import { type ReadonlySignal, signal } from '@preact/signals'

const second = signal(Date.now())
setInterval(() => {
  if (document.visibilityState === 'visible') second.value = Date.now()
}, 1000)

/** This machine's time, updated every second. */
export const now: ReadonlySignal<number> = second

/** Shows a time in the reader's zone, and its distance from now. */
export function Ago({ at, from = now }: { at: number; from?: ReadonlySignal<number> }) {
  const date = new Date(at)
  return (
    <>
      <time dateTime={date.toISOString()}>
        {timeOf(date)} {zoneOf(date)}
      </time>
      <span>, {distance(at - from.value)}</span>
    </>
  )
}

/** Shows a time in a column whose header has the zone. Omits today's date, and the seconds of other days. */
export function AgoCell({ at, from = now }: { at: number; from?: ReadonlySignal<number> }) {
  const date = new Date(at)
  const text = timeOf(date)
  const today = timeOf(new Date(from.value)).slice(0, 10)
  return (
    <>
      <time dateTime={date.toISOString()} title={`${text} ${zoneOf(date)}`}>
        {text.startsWith(today) ? text.slice(11) : text.slice(0, 16)}
      </time>
      <span>, {distance(at - from.value)}</span>
    </>
  )
}

/** Formats `2026-11-22 16:05:09` in the reader's zone, without `Intl`, which is slow to load. */
export function timeOf(date: Date): string {
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, 19)
    .replace('T', ' ')
}

/** Formats the zone at that time: `UTC+5:30`. */
export function zoneOf(date: Date = new Date()): string {
  const minutes = -date.getTimezoneOffset()
  if (minutes === 0) return 'UTC'
  const rest = Math.abs(minutes % 60)
  const hours = Math.trunc(Math.abs(minutes) / 60)
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`
}

export function distance(ms: number): string {
  if (Math.abs(ms) < 1000) return 'now'
  return ms < 0 ? `${spanOf(-ms, 1)} ago` : `in ${spanOf(ms)}`
}

/** Formats a duration by its largest units: `1 h 12 min`. */
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

import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { nextEntry } from './kept-here.ts'

/** Place in the page: `#/deliveries/evt_1?state=failed`. A hash works behind any prefix and proxy. */
export interface Route {
  /** Decoded parts of the path. */
  readonly parts: readonly string[]
  readonly query: URLSearchParams
}

const hash = signal(location.hash)
addEventListener('hashchange', () => {
  hash.value = location.hash
})

export const route: ReadonlySignal<Route> = computed(() => parseRoute(hash.value))

/** Returns the `href` of a place in this page, without empty query values. */
export function hrefOf(parts: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const kept = Object.entries(query).filter(([, value]) => value !== '')
  const search = kept.length === 0 ? '' : `?${new URLSearchParams(kept)}`
  return `#/${parts.map(encodeURIComponent).join('/')}${search}`
}

export function go(parts: readonly string[], query?: Readonly<Record<string, string>>): void {
  location.hash = hrefOf(parts, query)
}

/** Changes filters in the address. Back undoes the change, unless it `replaces` the entry in the history. */
export function setQuery(changes: Readonly<Record<string, string>>, replaces = false): void {
  const { parts, query } = route.value
  const href = hrefOf(parts, { ...Object.fromEntries(query), ...changes })
  if (href === hrefOf(parts, Object.fromEntries(query))) return
  if (replaces) history.replaceState(history.state, '', href)
  else history.pushState(nextEntry(), '', href)
  hash.value = location.hash
}

function parseRoute(text: string): Route {
  const [path = '', search = ''] = text.replace(/^#\/?/, '').split('?', 2)
  return { parts: path.split('/').filter(Boolean).map(decode), query: new URLSearchParams(search) }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

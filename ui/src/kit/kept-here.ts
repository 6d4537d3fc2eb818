const MOST = 30
const kept = new Map<string, Map<string, object>>()

/**
 * Returns the value kept under `name` for this history entry, or a new one from `make`. Links create new entries, so
 * only Back and Forward find an old value.
 */
export function keptHere<T extends object>(
  name: string,
  make: () => T,
): { readonly value: T; readonly isOld: boolean } {
  const state = history.state as { readonly entry?: string } | null
  const entry = state?.entry ?? String(Math.random())
  if (state?.entry === undefined) history.replaceState({ entry }, '')
  const values = kept.get(entry) ?? new Map<string, object>()
  keep(entry, values)
  const old = values.get(name) as T | undefined
  const value = old ?? make()
  values.set(name, value)
  return { value, isOld: old !== undefined }
}

/** Returns the state of a new history entry that continues this one, as after a change of filters. */
export function nextEntry(): { readonly entry: string } {
  const entry = String(Math.random())
  const values = kept.get((history.state as { readonly entry?: string } | null)?.entry ?? '')
  if (values !== undefined) keep(entry, values)
  return { entry }
}

function keep(entry: string, values: Map<string, object>): void {
  kept.set(entry, values)
  if (kept.size > MOST) kept.delete([...kept.keys()][0] ?? '')
}

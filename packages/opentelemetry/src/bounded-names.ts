/** Stands for every name beyond the limit, as the OpenTelemetry conventions call it. */
export const OTHER = '_OTHER'

/** Keeps the first `limit` names. A backend stores a time series for each, so the others share one. */
export class BoundedNames {
  readonly #limit: number
  readonly #names = new Set<string>()

  constructor(limit: number) {
    this.#limit = limit
  }

  of(name: string): string {
    if (name === OTHER || this.#names.has(name)) return name
    if (this.#names.size >= this.#limit) return OTHER
    this.#names.add(name)
    return name
  }
}

/** Fields whose values may be kept: a tree of paths, so that each value costs one step and no text. */
export class Keep {
  readonly #fields = new Map<string, Keep>()
  readonly #others: Keep | undefined
  /** Whether the values here may be kept. */
  isKept = false

  /** `paths`: such as `data.items[].sku`. `'all'`: every value, but for the fields `except` at the top. */
  constructor(paths: readonly string[] | 'all', except: readonly string[] = []) {
    if (paths === 'all') {
      this.isKept = true
      this.#others = except.length > 0 ? new Keep('all') : this
    } else for (const path of paths) if (!except.includes(path)) this.#add(path)
    if (paths === 'all') for (const name of except) this.#fields.set(name, NOTHING_KEPT)
  }

  #add(path: string): void {
    let at: Keep = this
    for (const step of path.replaceAll('[]', '.[]').split('.')) {
      const inside: Keep = at.#fields.get(step) ?? new Keep([])
      at.#fields.set(step, inside)
      at = inside
    }
    at.isKept = true
  }

  /** Returns what is kept inside of a field, or of the items `'[]'` of an array. */
  at(step: string): Keep {
    const own = this.#fields.get(step) ?? this.#others
    if (own !== undefined) return own
    // A name may contain dots itself.
    return step.includes('.') ? this.#deep(step) : NOTHING_KEPT
  }

  #deep(name: string): Keep {
    return name.split('.').reduce<Keep>((at, step) => at.#fields.get(step) ?? NOTHING_KEPT, this)
  }
}

export const NOTHING_KEPT: Keep = new Keep([])

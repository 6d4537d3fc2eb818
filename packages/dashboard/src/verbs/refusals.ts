import { type Part, say, type Words } from '../protocol/words.ts'

/** Most ids that are kept, of all reasons together. */
const SHOWN_IDS = 20

/** Events that a verb did not change, by reason. */
export class Refusals {
  readonly #byReason = new Map<string, { count: number; readonly words: Words; readonly ids: string[] }>()
  #shown = 0
  #count = 0

  get count(): number {
    return this.#count
  }

  add(id: string, words: Words): void {
    const reason = say(words)
    const group = this.#byReason.get(reason) ?? { count: 0, words, ids: [] }
    this.#byReason.set(reason, group)
    this.#count++
    group.count++
    if (++this.#shown <= SHOWN_IDS) group.ids.push(id)
  }

  /** What follows the count of changed events; nothing if there are no refusals. */
  get words(): readonly Part[] {
    return [...this.#byReason.values()].flatMap(({ count, words, ids }): readonly Part[] => {
      const reason = typeof words === 'string' ? [words] : words
      return [`, ${count} not (`, ...reason, `): ${ids.join(' ')}${count > ids.length ? ' …' : ''}`]
    })
  }

  get data(): {
    readonly missing: number
    readonly missingIds: readonly string[]
    readonly refusals: object
  } {
    const groups = [...this.#byReason]
    return {
      missing: this.#count,
      missingIds: groups.flatMap(([, { ids }]) => ids),
      refusals: groups.map(([reason, { count, ids }]) => ({ reason, count, ids })),
    }
  }
}

import { printable } from '@ackhook/core/spi'

/** Maximum number of ids printed per reason. */
const SHOWN_IDS = 20

/** Events that a command did not change, by reason. */
export class Refusals {
  readonly #byReason = new Map<string, { count: number; readonly ids: string[] }>()
  #shown = 0
  #count = 0

  get count(): number {
    return this.#count
  }

  add(id: string, reason: string): void {
    const group = this.#byReason.get(reason) ?? { count: 0, ids: [] }
    this.#byReason.set(reason, group)
    this.#count++
    group.count++
    if (++this.#shown <= SHOWN_IDS) group.ids.push(id)
  }

  /** Text that follows the count of changed letters; empty if there are no refusals. */
  describe(): string {
    const groups = [...this.#byReason].map(([reason, { count, ids }]) => {
      const more = count > ids.length ? ' …' : ''
      return `, ${count} not (${reason}): ${printable(ids.join(' '))}${more}`
    })
    return groups.join('')
  }

  toJson(): object {
    const groups = [...this.#byReason]
    return {
      missing: this.#count,
      missingIds: groups.flatMap(([, { ids }]) => ids),
      refusals: groups.map(([reason, { count, ids }]) => ({ reason, count, ids })),
    }
  }
}

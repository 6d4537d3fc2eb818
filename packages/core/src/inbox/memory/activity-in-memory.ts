import type { ActivityLog, ActivitySlot, ActivitySource, CountedSlot } from '../activity.ts'

interface Slot extends ActivitySlot {
  readonly counts: Record<string, number>
}

/** The activity of this process, as long as it lives. */
export class ActivityInMemory implements ActivityLog {
  /** By length, each the oldest first. */
  readonly #slots = new Map<number, Slot[]>()
  #source: ActivitySource | undefined

  begin(source: ActivitySource | undefined): void {
    this.#source = source
    source?.begin(slots => this.add(slots))
  }

  async end(): Promise<void> {
    await this.#source?.end()
  }

  add(counted: readonly CountedSlot[]): void {
    for (const { startedAt, lengthMs, keptSince, counts } of counted) {
      const kept = (this.#slots.get(lengthMs) ?? []).filter(slot => slot.startedAt >= keptSince)
      this.#slots.set(lengthMs, kept)
      let slot = kept.find(one => one.startedAt === startedAt)
      if (slot === undefined) {
        slot = { startedAt, lengthMs, counts: {} }
        kept.push(slot)
        kept.sort((a, b) => a.startedAt - b.startedAt)
      }
      for (const [name, value] of Object.entries(counts)) slot.counts[name] = (slot.counts[name] ?? 0) + value
    }
  }

  read: ActivityLog['read'] = ({ lengthMs, since }) =>
    (this.#slots.get(lengthMs) ?? [])
      .filter(({ startedAt }) => startedAt >= since)
      .map(slot => ({ ...slot, counts: { ...slot.counts } }))
}

import type { Batch } from '../../../packages/dashboard/src/protocol/protocol.ts'

/** A batch as this browser saw it last, and how to start it again. */
export interface KeptBatch {
  readonly batch: Batch
  /** Arguments of its verb. */
  readonly args: object
}

const KEPT = 'ackhook-batches'
const DISMISSED = 'ackhook-batches-dismissed'
const MOST = 5
const MOST_DISMISSED = 50

/** Batches started in this browser whose end it has not seen. They outlast the page, and the process that runs them. */
export function keptBatches(): readonly KeptBatch[] {
  return read<KeptBatch>(KEPT)
}

/** Keeps a batch, in place of what was kept of it. */
export function keepBatch(kept: KeptBatch): void {
  write(KEPT, [kept, ...keptBatches().filter(({ batch }) => batch.id !== kept.batch.id)].slice(0, MOST))
}

/** Forgets a batch. With `forGood`, it is not shown again. */
export function forgetBatch(id: string, forGood = false): void {
  write(
    KEPT,
    keptBatches().filter(({ batch }) => batch.id !== id),
  )
  if (forGood) write(DISMISSED, [id, ...read<string>(DISMISSED)].slice(0, MOST_DISMISSED))
}

export function isDismissed(id: string): boolean {
  return read<string>(DISMISSED).includes(id)
}

function read<T>(name: string): readonly T[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(name) ?? '[]')
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

/** A browser that keeps nothing loses only the offer to start a batch again. */
function write(name: string, value: readonly unknown[]): void {
  try {
    localStorage.setItem(name, JSON.stringify(value))
  } catch {
    // Full, or not allowed.
  }
}

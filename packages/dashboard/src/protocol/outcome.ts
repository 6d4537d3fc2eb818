/** What became of redriven events. Each is counted once. */
export interface Outcome {
  readonly handled: number
  /** Not tried yet, or the first attempt runs. */
  readonly waiting: number
  /** Failed again, and wait for another attempt. `sameRetrying`: those with the error from before. */
  readonly retrying: number
  readonly sameRetrying: number
  /** Dead letters again. `sameFailed`: those with the error from before. */
  readonly failed: number
  readonly sameFailed: number
  /** No longer dead letters: the inbox cannot tell more. */
  readonly gone: number
  /** Discarded since, or no longer remembered. */
  readonly unknown: number
  /** The ten most frequent errors since the redrive. */
  readonly errors: readonly OutcomeError[]
}

/** Redriven events of one type that failed with one kind of error. */
export interface OutcomeError {
  readonly group: string
  readonly count: number
  /** The error of one of them. */
  readonly reason: string
}

/** A redrive in progress, or its result. */
export interface RedriveCount {
  readonly changed: number
  readonly outcome: Outcome
  /** Nothing more will change. */
  readonly isOver: boolean
}

/** Says what became of redriven events, in the words of the pages and the command line. */
export function describeRedrive({ changed, outcome, isOver }: RedriveCount): string {
  const { handled, waiting, retrying, sameRetrying, failed, sameFailed, gone, unknown, errors } = outcome
  const kinds = errors.length
  const parts = [
    `${counted(handled)} handled`,
    ...(waiting > 0 ? [`${counted(waiting)} waiting`] : []),
    ...(gone > 0 ? [`${counted(gone)} no longer dead letters`] : []),
    ...(unknown > 0 ? [`${counted(unknown)} discarded or forgotten`] : []),
    ...(retrying > 0
      ? [`${counted(retrying)} failed and wait to be tried again${sameness(retrying, sameRetrying, kinds)}`]
      : []),
    ...(failed > 0 ? [`${counted(failed)} failed again${sameness(failed, sameFailed, kinds)}`] : []),
  ]
  return `${counted(changed)} redriven: ${parts.join(', ')}${isOver ? '.' : ' …'}`
}

function sameness(all: number, same: number, kinds: number): string {
  if (kinds === 0) return ''
  if (same === all) return ': same error'
  if (same > 0) return `: ${counted(same)} with the same error`
  return kinds > 1 ? ': other errors' : ': another error'
}

function counted(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}

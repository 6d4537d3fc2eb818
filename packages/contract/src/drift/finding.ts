/** What a finding is about. */
export type DriftKind =
  | 'new-type'
  | 'new-field'
  | 'missing-field'
  | 'optional-field'
  | 'renamed-field'
  | 'changed-kind'
  | 'moved-unit'
  | 'large-number'
  | 'new-value'
  | 'moved-header'
  | 'moved-label'

/** One difference between what is known and what arrived. */
export interface Finding {
  readonly kind: DriftKind
  /** Event type. Absent if the difference is one of the envelope or of the signature. */
  readonly type?: string | undefined
  /** Path in the event, such as `data.channel`. */
  readonly path?: string | undefined
  /** Whether handlers or schemas for what is known may fail. */
  readonly isBreaking: boolean
  /** A sentence without any value of the payload. */
  readonly text: string
  /** Values outside the known set. */
  readonly values?: readonly string[] | undefined
  /** What absorbs it, as a rule an option to set. */
  readonly fix: string
}

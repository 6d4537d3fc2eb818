/** A change of a file's tables, as plain data. */
export interface Upgrade {
  readonly from: number
  readonly to: number
  /** Path of the file as it was before, unless the database is in memory. */
  readonly copy: string | undefined
}

export interface InboxFlags {
  readonly sqlite?: string
  readonly redis?: string
  readonly postgres?: string
  /** `true` if `redis` is a node of a Redis Cluster. */
  readonly cluster?: boolean
  readonly queue?: string
  readonly prefix?: string
  readonly schema?: string
  readonly namespace?: string
  readonly json?: boolean
}

export interface UiFlags extends InboxFlags {
  readonly port: number
  readonly readOnly?: boolean
  readonly bodies?: boolean
  readonly traceUrl?: string
  readonly emulator?: string
}

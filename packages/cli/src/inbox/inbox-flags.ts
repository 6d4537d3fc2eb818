export interface InboxFlags {
  readonly sqlite?: string
  readonly redis?: string
  readonly postgres?: string
  readonly queue?: string
  readonly namespace: string
  readonly json?: boolean
}

export interface ListFlags extends InboxFlags {
  readonly limit: number
}

export interface ChangeFlags extends InboxFlags {
  readonly all?: boolean
  readonly yes?: boolean
}

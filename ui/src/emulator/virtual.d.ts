/** Cause and fix of each reply code, which the build reads from docs/errors.md. */
declare module 'virtual:reply-codes' {
  export const codes: Readonly<Record<string, { readonly cause: string; readonly fix: string }>>
}

/** The types of `ackhook send --list`. */
declare module 'virtual:event-types' {
  export const EVENT_TYPES: readonly {
    readonly type: string
    readonly published: boolean
    readonly data: Readonly<Record<string, unknown>>
  }[]
}

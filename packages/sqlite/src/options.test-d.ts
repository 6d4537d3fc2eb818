import type { SqliteInboxOptions } from './options.ts'

declare const isSet: boolean

/** Values that leave an option out: a condition, or a variable that is not set. */
export const options: SqliteInboxOptions = {
  path: isSet ? 'webhooks.db' : undefined,
  database: undefined,
  lease: isSet ? '30s' : undefined,
  poll: isSet ? '1s' : undefined,
  create: isSet ? false : undefined,
}

/** Every option may be `undefined`. */
export const all: { readonly [Name in keyof Required<SqliteInboxOptions>]: undefined } & SqliteInboxOptions =
  { path: undefined, database: undefined, lease: undefined, poll: undefined, create: undefined }

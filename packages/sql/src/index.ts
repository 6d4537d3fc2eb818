export type { CustomDatabase } from './database/custom.ts'
export type { DatabaseOptions } from './database/database.ts'
export type { Dialect, Isolation } from './database/dialect.ts'
export type { TxOf } from './database/tx-of.ts'
export { type EntityState, newest } from './effects/newest.ts'
export {
  type EventWithId,
  type OnceHandler,
  type OnceResult,
  onceIn,
  type SqlEffects,
  sqlEffects,
} from './effects/once.ts'
export type { SqlEffectsOptions } from './effects/options.ts'
export { ddl, ddlStatements, TABLES } from './schema/ddl.ts'
export { migrate } from './schema/migrate.ts'
export type { SqlStoreOptions } from './store/options.ts'
export { sqlStore } from './store/sql-store.ts'

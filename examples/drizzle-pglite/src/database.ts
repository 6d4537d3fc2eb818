import { migrate } from '@ackhook/sql'
import { PGlite } from '@electric-sql/pglite'
import { sql } from 'drizzle-orm'
import { drizzle as onServer } from 'drizzle-orm/node-postgres'
import { integer, type PgDatabase, type PgQueryResultHKT, pgTable, text } from 'drizzle-orm/pg-core'
import { drizzle as inProcess } from 'drizzle-orm/pglite'
import { Pool } from 'pg'

export type Database = PgDatabase<PgQueryResultHKT>

export const conversations = pgTable('conversations', {
  id: text().primaryKey(),
  resolvedBy: text('resolved_by').notNull(),
  resolutions: integer().notNull(),
})

/** Opens a PostgreSQL server by its address, or PGlite by a folder: PostgreSQL in this process, without a folder in memory. */
export function openDatabase(address = 'memory://'): { db: Database; close: () => Promise<void> } {
  if (!address.startsWith('postgres')) {
    const pglite = new PGlite(address)
    return { db: inProcess(pglite), close: () => pglite.close() }
  }
  const pool = new Pool({ connectionString: address })
  pool.on('error', () => {}) // an idle connection that is lost is replaced
  return { db: onServer(pool), close: () => pool.end() }
}

const CONVERSATIONS = `
CREATE TABLE IF NOT EXISTS conversations (
  id text PRIMARY KEY,
  resolved_by text NOT NULL,
  resolutions integer NOT NULL
)
`

/** In production, these are a migration: drizzle-kit's for the table above, and the output of `npx ackhook sql postgres`. */
export async function createTables(db: Database): Promise<void> {
  await db.execute(sql.raw(CONVERSATIONS))
  await migrate(db)
}

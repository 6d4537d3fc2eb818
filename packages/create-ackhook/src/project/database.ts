import type { Choices } from './choices.ts'
import type { Code } from './code.ts'

/** Code of an app whose handlers write to PostgreSQL, each effect exactly once: as in `examples/drizzle-pglite`. */
export const DATABASE = {
  packages: ['@ackhook/sql', '@electric-sql/pglite', 'drizzle-orm', 'pg'],
  types: ['@types/pg'],
  env: '# A folder of PGlite, a PostgreSQL in the app itself, or the address of a server: postgres://…\nDATABASE_URL=data\n',
  ignored: 'data/\n',
  readme: `Handlers write to PostgreSQL, and each effect happens exactly once: \`once\` commits it together with the event's mark. On your
machine the database is PGlite, in the folder \`data\`; \`DATABASE_URL\` points to a server instead. In production, create the tables
with your migration tool: \`npx ackhook sql postgres\` prints Ackhook's.`,
  /** Statements of `src/app`. */
  imports(code: Code): readonly string[] {
    return [
      "import { newest, sqlEffects, sqlStore } from '@ackhook/sql'",
      `import { conversations${code.typed(', type Database')} } from './database.${code.extension}'`,
    ]
  },
  handler: `on(
    'conversation.resolved',
    once('resolve', async (event, tx) => {
      const { conversation_id: id, resolved_by: resolvedBy } = event.data
      if (await newest(tx, { entity: id, at: event.created_at, eventId: event.id }))
        await tx
          .insert(conversations)
          .values({ id, resolvedBy })
          .onConflictDoUpdate({ target: conversations.id, set: { resolvedBy } })
      console.log(id, 'was resolved by', resolvedBy)
    }),
  )`,
} as const

export function hasDatabase({ database }: Choices): boolean {
  return database === 'postgres'
}

/** Returns `src/database` and `src/schema`, the step that creates the tables. */
export function databaseFiles(code: Code): Readonly<Record<string, string>> {
  const { extension } = code
  const types = code.typed('type PgDatabase, type PgQueryResultHKT, ')
  return {
    [`src/database.${extension}`]: `${code.imports(
      "import { migrate } from '@ackhook/sql'",
      "import { PGlite } from '@electric-sql/pglite'",
      "import { sql } from 'drizzle-orm'",
      "import { drizzle as onServer } from 'drizzle-orm/node-postgres'",
      `import { ${types}pgTable, text } from 'drizzle-orm/pg-core'`,
      "import { drizzle as inProcess } from 'drizzle-orm/pglite'",
      "import { Pool } from 'pg'",
    )}
${code.typed('\nexport type Database = PgDatabase<PgQueryResultHKT>\n')}
export const conversations = pgTable('conversations', {
  id: text().primaryKey(),
  resolvedBy: text('resolved_by').notNull(),
})

/** Opens a PostgreSQL server by its address, or PGlite by a folder: PostgreSQL in this process, without a folder in memory. */
export function openDatabase(address = 'memory://')${code.typed(': { db: Database; close: () => Promise<void> }')} {
  if (!address.startsWith('postgres')) {
    const pglite = new PGlite(address)
    return { db: inProcess(pglite), close: () => pglite.close() }
  }
  const pool = new Pool({ connectionString: address })
  pool.on('error', () => {}) // an idle connection that is lost is replaced
  return { db: onServer(pool), close: () => pool.end() }
}

const CONVERSATIONS = \`
CREATE TABLE IF NOT EXISTS conversations (id text PRIMARY KEY, resolved_by text NOT NULL)
\`

/** Creates the tables, if they are missing. In production, your migration tool does it. */
export async function createTables(db${code.typed(': Database')})${code.typed(': Promise<void>')} {
  await db.execute(sql.raw(CONVERSATIONS))
  await migrate(db)
}
`,
    [`src/schema.${extension}`]: `${code.imports(`import { createTables, openDatabase } from './database.${extension}'`)}

const { db, close } = openDatabase(process.env.DATABASE_URL)
await createTables(db)
await close()
console.log('The tables are there')
`,
  }
}

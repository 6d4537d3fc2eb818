import type { Dialect } from '../database/dialect.ts'

/** Milliseconds since the epoch by the database's clock, as a whole number. */
export const NOW: Readonly<Record<Dialect, string>> = {
  // Not now(), which stands still in a transaction, and not clock_timestamp(), which moves on within a statement.
  postgres: '(extract(epoch from statement_timestamp()) * 1000)::bigint',
  // Not UNIX_TIMESTAMP(), which is ambiguous in the hour when clocks are set back.
  mysql: "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)",
  sqlite: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
}

/** Ids are compared byte by byte: a collation that ignores case or trailing blanks would take two events for one. */
const TYPES: Readonly<Record<Dialect, { readonly id: string; readonly int: string; readonly end: string }>> =
  {
    postgres: { id: 'text COLLATE "C"', int: 'bigint', end: '' },
    mysql: { id: 'varbinary(255)', int: 'bigint', end: ' ENGINE=InnoDB' },
    sqlite: { id: 'text', int: 'integer', end: ' STRICT, WITHOUT ROWID' },
  }

/** Names of the tables, for tools that must leave them alone. */
export const TABLES: readonly string[] = ['ackhook_marks', 'ackhook_states', 'ackhook_ids']

/**
 * Returns the statements that create this package's tables, one by one, for a migration tool that runs one at a time. They may
 * run again.
 *
 * @example
 * for (const statement of ddlStatements('mysql')) await knex.raw(statement)
 */
export function ddlStatements(dialect: Dialect): readonly string[] {
  const index = (table: string, name: string, columns: string): string =>
    `CREATE INDEX IF NOT EXISTS ${table}_${name} ON ${table} (${columns})`
  // MySQL has no CREATE INDEX IF NOT EXISTS.
  const within = (table: string, name: string, columns: string): string =>
    dialect === 'mysql' ? `,\n  KEY ${table}_${name} (${columns})` : ''
  const marks = ['ackhook_marks', 'age', 'handler, done_at'] as const
  const ids = ['ackhook_ids', 'expires_ms', 'expires_ms'] as const
  return [
    ...tables(dialect, { marks: within(...marks), ids: within(...ids) }),
    ...(dialect === 'mysql' ? [] : [index(...marks), index(...ids)]),
    ...(dialect === 'postgres' ? PROTECTION : []),
  ]
}

/** `marks` and `ids`: further lines of these tables. */
function tables(dialect: Dialect, { marks, ids }: Readonly<Record<'marks' | 'ids', string>>): string[] {
  const { id, int, end } = TYPES[dialect]
  // MySQL locks a handler's event by its row, which is not done yet.
  const done = dialect === 'mysql' ? int : `${int} NOT NULL`
  return [
    `-- Marks of sqlEffects: a handler's writes and its mark commit together.
CREATE TABLE IF NOT EXISTS ackhook_marks (
  event_id ${id} NOT NULL,
  handler ${id} NOT NULL,
  namespace ${id} NOT NULL,
  done_at ${done},
  PRIMARY KEY (event_id, handler, namespace)${marks}
)${end}`,
    `-- The newest state of each entity.
CREATE TABLE IF NOT EXISTS ackhook_states (
  scope ${id} NOT NULL,
  entity ${id} NOT NULL,
  state_at ${int} NOT NULL,
  state_rank ${int} NOT NULL,
  event_id ${id} NOT NULL,
  PRIMARY KEY (scope, entity)
)${end}`,
    `-- Ids of sqlStore.
CREATE TABLE IF NOT EXISTS ackhook_ids (
  event_key ${id} NOT NULL PRIMARY KEY,
  token ${id},
  until_ms ${int} NOT NULL,
  expires_ms ${int} NOT NULL,
  fingerprint ${int},
  lapses ${int} NOT NULL,
  attempts ${int} NOT NULL${ids}
)${end}`,
  ]
}

const ALL = TABLES.join(', ')

/** Whoever writes a mark decides that an event is handled: nobody but the tables' owner may, unless you grant it. */
const PROTECTION: readonly string[] = [
  ...TABLES.map(table => `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`),
  `REVOKE ALL ON ${ALL} FROM PUBLIC`,
  `-- The roles of Supabase's public API, if they are here.
DO $$ DECLARE who text; BEGIN FOR who IN SELECT rolname FROM pg_roles WHERE rolname IN ('anon', 'authenticated') LOOP EXECUTE format('REVOKE ALL ON ${ALL} FROM %I', who); END LOOP; END $$`,
]

/**
 * Returns the text that creates this package's tables, for a migration. The command `ackhook sql` prints it. It may run again.
 *
 * @example
 * console.log(ddl('postgres'))
 */
export function ddl(dialect: Dialect): string {
  return `${ddlStatements(dialect).join(';\n\n')};\n`
}

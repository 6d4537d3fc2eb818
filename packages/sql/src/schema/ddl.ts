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
export const TABLES: readonly string[] = ['ackhook_once', 'ackhook_newest', 'ackhook_dedupe']

/**
 * Returns the statements that create this package's tables, for a migration. The command `ackhook sql` prints them.
 *
 * @example
 * console.log(ddl('postgres'))
 */
export function ddl(dialect: Dialect): string {
  const { id, int, end } = TYPES[dialect]
  return `-- Marks of sqlEffects: a handler's writes and its mark commit together.
CREATE TABLE ackhook_once (
  event_id ${id} NOT NULL,
  handler ${id} NOT NULL,
  namespace ${id} NOT NULL,
  done_at ${int} NOT NULL,
  PRIMARY KEY (event_id, handler, namespace)
)${end};
CREATE INDEX ackhook_once_done_at ON ackhook_once (done_at);

-- The newest state of each entity.
CREATE TABLE ackhook_newest (
  scope ${id} NOT NULL,
  entity ${id} NOT NULL,
  state_at ${int} NOT NULL,
  state_rank ${int} NOT NULL,
  event_id ${id} NOT NULL,
  PRIMARY KEY (scope, entity)
)${end};

-- Ids of sqlStore.
CREATE TABLE ackhook_dedupe (
  event_key ${id} NOT NULL PRIMARY KEY,
  token ${id},
  until_ms ${int} NOT NULL,
  expires_ms ${int} NOT NULL,
  fingerprint ${int},
  lapses ${int} NOT NULL,
  attempts ${int} NOT NULL
)${end};
CREATE INDEX ackhook_dedupe_expires_ms ON ackhook_dedupe (expires_ms);
`
}

import type { Database } from '../database/database.ts'
import type { Table } from './check.ts'

/**
 * Returns a warning if other roles of PostgreSQL can write to the table: a mark or an id that somebody else has written makes
 * an event count as handled. Row level security without a policy keeps them out, whatever they are granted.
 */
export async function whoElseWrites(database: Database, table: Table): Promise<string | undefined> {
  if (database.dialect !== 'postgres') return undefined
  // A user without the permission, or a database that only speaks the protocol: everything works all the same.
  const found = await database.query(QUESTION.replace('$table', table)).catch(() => undefined)
  const roles = found?.rows[0]?.['roles']
  if (typeof roles !== 'string') return undefined
  return `Others can write to ${table}, and so decide which events count as handled and never run: ${roles}. Run what 'npx ackhook sql postgres' prints once more, or revoke their rights.`
}

const QUESTION = `SELECT string_agg(DISTINCT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE r.rolname::text END, ', ') AS roles
FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee
WHERE c.oid = '$table'::regclass AND a.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE') AND a.grantee <> c.relowner
AND (a.grantee = 0 OR (r.rolname <> current_user AND NOT r.rolsuper AND NOT r.rolbypassrls))
AND (NOT c.relrowsecurity OR a.privilege_type = 'TRUNCATE')`

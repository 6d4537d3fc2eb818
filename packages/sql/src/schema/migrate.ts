import { Database, type DatabaseOptions } from '../database/database.ts'
import { ddlStatements } from './ddl.ts'

/**
 * Creates this package's tables through the application's own database object, one statement at a time, and leaves what is
 * there. For development, for tests, and for a deployment step of your own: nothing else of this package creates a table.
 *
 * Throws `ConfigurationError` for an unknown database object. Rejects with the database's error.
 *
 * @example
 * await migrate(new Pool({ connectionString: url }))
 */
export async function migrate(db: object, options: DatabaseOptions = {}): Promise<void> {
  const database = new Database(db, options)
  for (const statement of ddlStatements(database.dialect)) await database.query(statement)
}

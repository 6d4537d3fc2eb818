import type { SqliteDatabase, SqliteStatement } from '@ackhook/sqlite/driver'

/** A row of `endpoints`. */
export interface EndpointRow {
  readonly workspace: string
  readonly url: string
  readonly secret: string
  readonly previous_secret: string | null
  /** Time until which the previous secret also signs. */
  readonly previous_until: number | null
  /** JSON list, as is `types`; null for all. */
  readonly categories: string | null
  readonly types: string | null
  readonly paused: 0 | 1
  /** Reason why the endpoint is unhealthy. */
  readonly warning: string | null
  readonly created_at: number
  readonly updated_at: number
}

export interface WorkspaceRow {
  readonly id: string
  readonly created_at: number
}

/** Stores workspaces, each with at most one endpoint. */
export class EndpointRows {
  readonly #workspaces: SqliteStatement
  readonly #addWorkspace: SqliteStatement
  readonly #removeWorkspace: SqliteStatement
  readonly #all: SqliteStatement
  readonly #put: SqliteStatement
  readonly #remove: SqliteStatement

  constructor(database: SqliteDatabase) {
    this.#workspaces = database.prepare('SELECT * FROM workspaces ORDER BY created_at, id')
    this.#addWorkspace = database.prepare('INSERT OR IGNORE INTO workspaces VALUES (?, ?)')
    this.#removeWorkspace = database.prepare('DELETE FROM workspaces WHERE id = ?')
    this.#all = database.prepare('SELECT * FROM endpoints')
    this.#put = database.prepare('INSERT OR REPLACE INTO endpoints VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    this.#remove = database.prepare('DELETE FROM endpoints WHERE workspace = ?')
  }

  workspaces(): readonly WorkspaceRow[] {
    return this.#workspaces.all() as WorkspaceRow[]
  }

  addWorkspace(id: string, now: number): void {
    this.#addWorkspace.run(id, now)
  }

  removeWorkspace(id: string): void {
    this.#removeWorkspace.run(id)
  }

  all(): readonly EndpointRow[] {
    return this.#all.all() as EndpointRow[]
  }

  put(row: EndpointRow): void {
    this.#put.run(
      ...[row.workspace, row.url, row.secret, row.previous_secret, row.previous_until],
      ...[row.categories, row.types, row.paused, row.warning, row.created_at, row.updated_at],
    )
  }

  remove(workspace: string): void {
    this.#remove.run(workspace)
  }
}

/** Opens SQLite with the inbox's driver: Node's own if it exists, otherwise the package. */
export async function openSqlite(path) {
  const { DatabaseSync } =
    process.getBuiltinModule?.('node:sqlite') ?? (await import('@photostructure/sqlite'))
  return new DatabaseSync(path)
}

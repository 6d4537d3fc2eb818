/** The driver that the inbox would use: Node's own where it exists, otherwise the package. */
export async function openSqlite(path) {
  const { DatabaseSync } =
    process.getBuiltinModule?.('node:sqlite') ?? (await import('@photostructure/sqlite'))
  return new DatabaseSync(path)
}

import { readFileSync } from 'node:fs'
import { parseAst } from 'rolldown/parseAst'

/** Returns an entry point's exported names, types as `type Name`. Throws at `export *`: public names must be explicit. */
export function exportedNames(entry: string): readonly string[] {
  const { body } = parseAst(readFileSync(entry, 'utf8'), { lang: 'ts' })
  const names: string[] = []
  for (const statement of body) {
    if (statement.type === 'ExportAllDeclaration') throw new Error(`${entry} has an "export *"`)
    if (statement.type !== 'ExportNamedDeclaration') continue
    if (statement.declaration) throw new Error(`${entry} declares something itself`)
    for (const { exported, exportKind } of statement.specifiers) {
      const name = exported.type === 'Identifier' ? exported.name : exported.value
      names.push(statement.exportKind === 'type' || exportKind === 'type' ? `type ${name}` : name)
    }
  }
  return names.sort()
}

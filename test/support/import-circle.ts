/** Returns the files of one cycle, beginning and ending with the same file. */
export function circleIn(
  files: readonly string[],
  importsOf: (file: string) => readonly string[],
): readonly string[] | undefined {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return undefined
    for (const imported of importsOf(file)) {
      const circle = visit(imported, [...path, file])
      if (circle !== undefined) return circle
    }
    done.add(file)
    return undefined
  }
  for (const file of files) {
    const circle = visit(file, [])
    if (circle !== undefined) return circle
  }
  return undefined
}

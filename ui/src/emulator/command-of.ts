/** Returns the command equivalent to an action: `npx ackhook emulator list --type 'order.*'`. */
export function commandOf(words: readonly string[], filter: Readonly<Record<string, string>> = {}): string {
  const flags = Object.entries(filter).flatMap(([name, value]) => [`--${name}`, quoted(value)])
  const at = location.origin === DEFAULT ? [] : ['--at', quoted(location.origin)]
  return ['npx ackhook emulator', ...words.map(quoted), ...flags, ...at].join(' ')
}

const DEFAULT = 'http://localhost:4400'

/** Quotes a word for a POSIX shell. */
function quoted(word: string): string {
  return /^[\w.:/@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Characters that no POSIX shell reads as syntax. zsh expands a leading `=`, and every shell a leading `~`. */
const PLAIN = /^[\w@%+:,./-][\w@%+=:,./-]*$/
/** Characters that a terminal acts on if a command is pasted. A newline is plain text between quotes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0001-\u0009\u000b-\u001f\u007f]/g

/**
 * Quotes text as one word of a command for sh, bash, dash and zsh. The text must not contain NUL, which no argument can.
 * A word that begins with `-` still reads as an option: put `--` before it, or join it to its flag with `=`.
 */
export function shellWord(text: string): string {
  if (PLAIN.test(text)) return text
  const quoted = `'${text.replaceAll("'", `'\\''`)}'`
  return quoted.replace(
    CONTROL,
    char => `'"$(printf '\\${char.charCodeAt(0).toString(8).padStart(3, '0')}')"'`,
  )
}

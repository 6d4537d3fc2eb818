const CONTROL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

/**
 * Escapes untrusted text for one line of a log or a terminal: control characters could move the cursor, break the line
 * or hide text. The escapes are JSON's, so JSON keeps its meaning.
 */
export function printable(text: string): string {
  return text.replace(CONTROL, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

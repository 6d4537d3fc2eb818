import { shellWord } from '@ackhook/core/spi'

/** Returns the command equivalent to an action: `npx ackhook emulator list --type 'order.*'`. */
export function commandOf(words: readonly string[], flags: Readonly<Record<string, string>> = {}): string {
  const given = Object.entries(flags).map(
    ([name, value]) => `--${name}${value.startsWith('-') ? '=' : ' '}${shellWord(value)}`,
  )
  const at = location.origin === DEFAULT ? [] : ['--at', shellWord(location.origin)]
  return ['npx ackhook emulator', ...words.map(shellWord), ...given, ...at].join(' ')
}

/** Returns a filter as flags: `--to` is an address there. */
export function flagsOf({
  to,
  ...filter
}: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return to === undefined ? filter : { ...filter, until: to }
}

const DEFAULT = 'http://localhost:4400'

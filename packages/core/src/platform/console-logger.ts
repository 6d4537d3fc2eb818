import type { Logger } from '../observe/logger.ts'
import { thrownText } from '../observe/thrown-text.ts'

/** Fallback logger: warnings and errors on the console, in the form of Node's process warnings. */
export const consoleLogger: Logger = {
  info() {},
  // biome-ignore lint/suspicious/noConsole: without it nothing would be seen here.
  warn: (fields, message) => console.warn(textOf(fields, message)),
  // biome-ignore lint/suspicious/noConsole: as above.
  error: (fields, message) => console.error(textOf(fields, message)),
}

function textOf(fields: object, message: string): string {
  const { code } = fields as { code?: unknown }
  const label = typeof code === 'string' ? `[${code}] ` : ''
  const thrown = thrownText(fields)
  return `${label}AckhookWarning: ${message}${thrown === undefined ? '' : `\n${thrown}`}`
}

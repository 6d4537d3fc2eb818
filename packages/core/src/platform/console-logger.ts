import type { Logger } from '../observe/logger.ts'

/** The logger of last resort: warnings and errors on the console, in the form that Node prints a process warning. */
export const consoleLogger: Logger = {
  info() {},
  // biome-ignore lint/suspicious/noConsole: without it nothing would be seen here.
  warn: (fields, message) => console.warn(textOf(fields, message)),
  // biome-ignore lint/suspicious/noConsole: as above.
  error: (fields, message) => console.error(textOf(fields, message)),
}

/** Only the stack of an error: its other properties may hold payload data. */
function textOf(fields: object, message: string): string {
  const { code, err } = fields as { code?: unknown; err?: unknown }
  const label = typeof code === 'string' ? `[${code}] ` : ''
  const stack = err instanceof Error ? `\n${err.stack ?? String(err)}` : ''
  return `${label}AckhookWarning: ${message}${stack}`
}

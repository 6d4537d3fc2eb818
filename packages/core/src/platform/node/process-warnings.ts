import type { Logger } from '../../observe/logger.ts'

/**
 * The logger when none was given: warnings and errors become process warnings, which Node prints to stderr
 * and any `process.on('warning')` listener receives. A failing handler must be visible without any set-up.
 */
export const processWarnings: Logger = {
  info() {},
  warn: emit,
  error: emit,
}

function emit(fields: object, message: string): void {
  const { code, err } = fields as { code?: unknown; err?: unknown }
  process.emitWarning(message, {
    type: 'AckhookWarning',
    ...(typeof code === 'string' && { code }),
    ...(err instanceof Error && { detail: err.stack ?? String(err) }),
  })
}

import type { Logger } from '../../observe/logger.ts'
import { thrownText } from '../../observe/thrown-text.ts'
import { consoleLogger } from '../console-logger.ts'
import { exits } from './on-exit.ts'

/**
 * Default logger: warnings and errors become process warnings, which Node prints to stderr and any
 * `process.on('warning')` listener receives. A failing handler must be visible without any setup, so a warning that
 * would reach no one goes to the console.
 */
export const processWarnings: Logger = {
  info() {},
  warn: (fields, message) => emit('warn', fields, message),
  error: (fields, message) => emit('error', fields, message),
}

function emit(level: 'warn' | 'error', fields: object, message: string): void {
  // Node prints warnings in a listener of its own, which `--no-warnings` and NODE_NO_WARNINGS remove.
  if (exits() || typeof process.emitWarning !== 'function' || process.listenerCount('warning') === 0) {
    consoleLogger[level](fields, message)
    return
  }
  const { code } = fields as { code?: unknown }
  process.emitWarning(message, {
    type: 'AckhookWarning',
    ...(typeof code === 'string' && { code }),
    detail: thrownText(fields),
  })
}

import type { Logger } from '@ackhook/core'
import { stackOf } from '@ackhook/core/spi'
import { Logger as NestLogger } from '@nestjs/common'

/** Writes lines to the app's logger, as text: most loggers for Nest print only that. */
export function nestLogger(name: string): Logger {
  const logger = new NestLogger(name === 'default' ? 'Webhooks' : `Webhooks ${name}`)
  return {
    info: (fields, message) => logger.log(textOf(fields, message)),
    warn: (fields, message) => logger.warn(withStack(fields, message)),
    error: (fields, message) =>
      logger.error(textOf(fields, message), stackOf((fields as { err?: unknown }).err)),
  }
}

function withStack(fields: object, message: string): string {
  const stack = stackOf((fields as { err?: unknown }).err)
  const text = textOf(fields, message)
  return stack === undefined ? text : `${text}\n${stack}`
}

function textOf(fields: object, message: string): string {
  const { err: _, code, ...rest } = fields as Record<string, unknown>
  const label = typeof code === 'string' ? `[${code}] ` : ''
  const shown = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : ''
  return `${label}${message}${shown}`
}

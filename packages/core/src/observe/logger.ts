/** Logger for Ackhook: pino, `fastify.log` and `console` fit unchanged. */
export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

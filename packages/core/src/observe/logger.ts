/** Logger that Ackhook needs: pino, `fastify.log` and `console` fit as they are. */
export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

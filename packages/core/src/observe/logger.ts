/** Logger for Ackhook: pino, bunyan, `fastify.log` and `console` fit unchanged. */
export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Logger whose methods take the text first, and fields after it. Wrap it with `messageFirst`. */
export interface MessageFirstLogger {
  info(message: string, fields?: object): unknown
  warn(message: string, fields?: object): unknown
  error(message: string, fields?: object): unknown
}

/**
 * Nest's `LoggerService`, by the members that tell it from others. Its methods have no signature here, so that those of
 * `Logger` alone give a literal's parameters their types.
 */
export interface NestLogger {
  readonly info?: undefined
  readonly log: CallableFunction
  readonly warn: CallableFunction
  readonly error: CallableFunction
}

/** Backstage's `LoggerService`, which has these five methods and no others. */
export interface BackstageLogger {
  readonly debug: CallableFunction
  readonly info: CallableFunction
  readonly warn: CallableFunction
  readonly error: CallableFunction
  readonly child: CallableFunction
  readonly trace?: undefined
  readonly fatal?: undefined
}

/**
 * Loggers that the option `logger` takes as they are. Those of winston, LogTape, tslog and signale have the type of
 * `Logger`, and are told from it when a receiver is created.
 */
export type AnyLogger = Logger | NestLogger | BackstageLogger

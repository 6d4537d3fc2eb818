import { createReceiver } from '@ackhook/core'
import { getLogger } from '@logtape/logtape'
import { ConsoleLogger, Logger, type LoggerService } from '@nestjs/common'
import bunyan from 'bunyan'
import type { Logger as NestPino, PinoLogger } from 'nestjs-pino'
import { pino } from 'pino'
import signale from 'signale'
import { Logger as TsLog } from 'tslog'
import winston from 'winston'

const secret = 'whsec_of_a_logger_0123456789'

/** Backstage's interface: its package needs hundreds of others. */
interface BackstageLogger {
  error(message: string, meta?: Error | { [name: string]: string }): void
  warn(message: string, meta?: Error | { [name: string]: string }): void
  info(message: string, meta?: Error | { [name: string]: string }): void
  debug(message: string, meta?: Error | { [name: string]: string }): void
  child(meta: { [name: string]: string }): BackstageLogger
}

createReceiver({ secret, logger: winston })
createReceiver({ secret, logger: winston.createLogger() })
createReceiver({ secret, logger: getLogger('app') })
createReceiver({ secret, logger: Logger })
createReceiver({ secret, logger: new Logger('Webhooks') })
createReceiver({ secret, logger: new ConsoleLogger() })
createReceiver({ secret, logger: {} as LoggerService })
createReceiver({ secret, logger: {} as NestPino })
createReceiver({ secret, logger: {} as PinoLogger })
createReceiver({ secret, logger: {} as BackstageLogger })
createReceiver({ secret, logger: new TsLog() })
createReceiver({ secret, logger: signale })
createReceiver({ secret, logger: pino() })
createReceiver({ secret, logger: bunyan.createLogger({ name: 'webhooks' }) })

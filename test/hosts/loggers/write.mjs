/**
 * Writes what a receiver logs of a failed handler and of its drain to standard output, with the logger that the first
 * argument names. A program of its own: some of these libraries write to the process's own streams.
 */
import { createReceiver, messageFirst, toFetchHandler } from '@ackhook/core'
import { createEvent, signedRequest } from '@ackhook/testing'

const secret = 'whsec_of_a_logger_0123456789'

/** Backstage's `LoggerService`, as its own class writes it: five methods on a winston logger. */
class BackstageLogger {
  #winston
  constructor(winston) {
    this.#winston = winston
  }
  error = (message, meta) => void this.#winston.error(message, meta)
  warn = (message, meta) => void this.#winston.warn(message, meta)
  info = (message, meta) => void this.#winston.info(message, meta)
  debug = (message, meta) => void this.#winston.debug(message, meta)
  child = meta => new BackstageLogger(this.#winston.child(meta))
}

async function createWinston(...formats) {
  const { default: winston } = await import('winston')
  const format = winston.format.combine(...formats.map(make => make(winston.format)))
  return winston.createLogger({ format, transports: [new winston.transports.Console()] })
}

async function createLogTape(sink) {
  const { configure, getLogger, ...tools } = await import('@logtape/logtape')
  const write = sink(tools)
  await configure({
    sinks: { write },
    loggers: [{ category: ['app'], sinks: ['write'], lowestLevel: 'info' }],
  })
  return getLogger(['app', 'webhooks'])
}

const text = format => format.printf(({ level, message }) => `${level}: ${message}`)

const LOGGERS = {
  winston: () => createWinston(format => format.json()),
  'winston-text': () => createWinston(format => format.splat(), text),
  'winston-child': async () => (await createWinston(text)).child({ plugin: 'webhooks' }),
  logtape: () => createLogTape(({ getConsoleSink }) => getConsoleSink()),
  'logtape-json': () =>
    createLogTape(({ getJsonLinesFormatter }) => {
      const format = getJsonLinesFormatter()
      return record => process.stdout.write(format(record))
    }),
  nest: async () => {
    const { Logger } = await import('@nestjs/common')
    return new Logger('Webhooks')
  },
  'nest-json': async () => {
    const { ConsoleLogger } = await import('@nestjs/common')
    return new ConsoleLogger({ json: true })
  },
  'nest-pino': async () => {
    const { default: nestPino } = await import('nestjs-pino')
    return new nestPino.Logger(new nestPino.PinoLogger({ pinoHttp: {} }), {})
  },
  'nest-pino-logger': async () => {
    const { default: nestPino } = await import('nestjs-pino')
    return new nestPino.PinoLogger({ pinoHttp: {} })
  },
  backstage: async () => new BackstageLogger(await createWinston(text)).child({ plugin: 'webhooks' }),
  tslog: async () => new (await import('tslog')).Logger(),
  'tslog-json': async () => new (await import('tslog')).Logger({ type: 'json' }),
  signale: async () => (await import('signale')).default.scope('webhooks'),
  pino: async () => (await import('pino')).pino(),
  bunyan: async () => (await import('bunyan')).default.createLogger({ name: 'webhooks' }),
  console: async () => console,
  wrapped: async () => {
    const print = level => (message, fields) => console.log(level, message, fields.code)
    return messageFirst({ info: print('info'), warn: print('warn'), error: print('error') })
  },
}

const logger = await LOGGERS[process.argv[2]]()
const receiver = createReceiver({ secret, logger, retry: { attempts: 1 } })
let fail = () => {}
const failed = new Promise(resolve => (fail = resolve))
receiver.on('conversation.resolved', () => {
  fail()
  throw new Error('no {seats} left for 100%d of %s')
})
const { headers, body } = signedRequest(createEvent('conversation.resolved', { id: 'evt_1' }), { secret })
await toFetchHandler(receiver)(new Request('http://localhost/', { method: 'POST', headers, body }))
await failed
await receiver.close()

import { ConfigurationError } from '../errors/errors.ts'
import type { AnyLogger, Logger, MessageFirstLogger } from './logger.ts'
import { thrownText } from './thrown-text.ts'

const LEVELS = ['info', 'warn', 'error'] as const
type Level = (typeof LEVELS)[number]

/** Members of a logger of any make. */
type Members = Readonly<Record<string, unknown>>

/** What a logger that is not called like `Logger` gets of a line. */
interface Line {
  readonly level: Level
  /** Code, message and stack: the formats of these loggers may drop all fields. */
  readonly text: string
  readonly fields: object
}

interface Foreign {
  readonly is: (logger: Members) => boolean
  readonly write: (logger: Members, line: Line) => unknown
}

/**
 * Loggers whose methods are named like those of `Logger` and take other arguments, told by members that only they have.
 * None is called to find out: each call would write a line.
 */
const FOREIGN: readonly Foreign[] = [
  // winston, and so Strapi. One object, because `format.splat` fills `%s` in a text with the fields after it.
  {
    is: logger => has(logger, 'log', 'startTimer', 'profile'),
    write: (logger, { level, text, fields }) => call(logger, 'log', { ...fields, level, message: text }),
  },
  // LogTape, whose text is a template.
  {
    is: logger => has(logger, 'getChild') && Array.isArray(logger['category']),
    write: (logger, { level, text, fields }) =>
      call(logger, level, text.replaceAll(/[{}]/g, '$&$&'), { ...fields }),
  },
  // tslog, which merges fields into its JSON only in front of the text, and leaves out errors.
  {
    is: logger => has(logger, 'getSubLogger', 'attachTransport'),
    write: (logger, { level, text, fields }) => call(logger, level, fields, text),
  },
  // signale, which fills `%s` in a text with what follows.
  {
    is: logger => has(logger, 'scope', 'unscope', 'timeEnd'),
    write: (logger, { level, text, fields }) => call(logger, level, '%s', text, fields),
  },
  // Nest, which prints each further argument as a line, or takes it as stack or context.
  {
    is: logger => has(logger, 'log') && logger['info'] === undefined,
    write: (logger, { level, text, fields }) =>
      call(logger, level === 'info' ? 'log' : level, withFields(text, fields)),
  },
  // Backstage, whose interface is five methods and no more.
  {
    is: logger => has(logger, 'debug', 'child') && !has(logger, 'trace') && !has(logger, 'fatal'),
    write: textFirst,
  },
]

/** Returns a logger of the user's as one that takes fields first. Throws `ConfigurationError` if it lacks a method. */
export function toLogger(logger: AnyLogger): Logger {
  const members = logger as unknown as Members
  const foreign = FOREIGN.find(({ is }) => is(members))
  const isNests = has(members, 'log', 'warn') && members['info'] === undefined
  for (const level of isNests ? (['error'] as const) : LEVELS) {
    if (!has(members, level))
      throw new ConfigurationError('logger', `must have '${level}', as pino, fastify.log and console do`)
  }
  return foreign === undefined ? (logger as Logger) : writing(members, foreign.write)
}

/**
 * Wraps a logger whose methods take the text first. Each text holds code, message and stack, in case its format drops the
 * fields. The loggers of winston, LogTape, Nest, Backstage, tslog and signale need no wrapper. Throws `ConfigurationError`
 * for a logger without `info`, `warn` or `error`.
 *
 * @example
 * createReceiver({ secret: process.env['SIGNING_SECRET'], logger: messageFirst(logger) })
 */
export function messageFirst(logger: MessageFirstLogger): Logger {
  const members = (logger ?? {}) as unknown as Members
  for (const level of LEVELS) {
    if (!has(members, level))
      throw new ConfigurationError('logger', `messageFirst needs a logger with '${level}'`)
  }
  return writing(members, textFirst)
}

function textFirst(logger: Members, { level, text, fields }: Line): unknown {
  return call(logger, level, text, fields)
}

function writing(logger: Members, write: Foreign['write']): Logger {
  const writer = (level: Level) => (fields: object, message: string) =>
    write(logger, { level, text: textOf(fields, message), fields }) as undefined
  return { info: writer('info'), warn: writer('warn'), error: writer('error') }
}

function textOf(fields: object, message: string): string {
  const { code } = fields as { code?: unknown }
  const thrown = thrownText(fields)
  return `${typeof code === 'string' ? `[${code}] ` : ''}${message}${thrown === undefined ? '' : `\n${thrown}`}`
}

/** Inserts the fields that the text does not have after its first line. */
function withFields(text: string, fields: object): string {
  const { code: _, err: __, ...rest } = fields as { code?: unknown; err?: unknown }
  if (Object.keys(rest).length === 0) return text
  const [message, ...stack] = text.split('\n')
  return [`${message} ${JSON.stringify(rest)}`, ...stack].join('\n')
}

function has(logger: Members, ...methods: readonly string[]): boolean {
  return methods.every(name => typeof logger[name] === 'function')
}

/** Calls a method on its logger, which it may need as `this`. */
function call(logger: Members, method: string, ...args: unknown[]): unknown {
  return (logger[method] as (...args: unknown[]) => unknown).apply(logger, args)
}

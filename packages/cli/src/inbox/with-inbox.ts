import type { ConfigurationError, Inbox } from '@ackhook/core'
import { adviceOn } from '@ackhook/core/advice'
import { isError, printable } from '@ackhook/core/spi'
import { Refused } from '@ackhook/dashboard/verbs'
import { UsageError } from '../command/usage-error.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { InboxFlags } from './inbox-flags.ts'
import type { OpenInbox } from './open-inbox.ts'

export interface InboxParts {
  readonly terminal: Terminal
  readonly open: OpenInbox
}

const CLOSE_MS = 1000

/** Opens an inbox for one piece of work, and always closes it. */
export async function withInbox<T>(
  flags: InboxFlags,
  { terminal, open }: InboxParts,
  work: (inbox: Inbox) => Promise<T>,
): Promise<T> {
  let inbox: Inbox | undefined
  try {
    inbox = await open(flags, terminal.cwd)
    return await work(inbox)
  } catch (cause) {
    throw cause instanceof UsageError || cause instanceof Refused
      ? cause
      : new UsageError(messageOf(cause, flags), { cause })
  } finally {
    await inbox?.close(CLOSE_MS)
  }
}

function messageOf(thrown: unknown, flags: InboxFlags): string {
  const { cause: origin } = Object(thrown) as { readonly cause?: unknown }
  const noOpening = codeOf(thrown) === 'inbox_unavailable' ? openingFailure(origin, flags) : undefined
  if (noOpening !== undefined) return noOpening
  // PostgreSQL's own words say more than those around them.
  const cause = codeOf(origin) === NO_DATABASE || LOGIN.includes(codeOf(origin)) ? origin : thrown
  const { code, option } = Object(cause) as Partial<ConfigurationError>
  const message = printable(reasonOf(cause)).replace(/\.$/, '')
  // `instanceof` would fail, as the project has its own copy of core.
  if (code === 'configuration_invalid' && option === 'queue' && flags.sqlite === undefined)
    return noQueue(flags)
  const named = withFlags(message)
  if (named.startsWith('--')) return named
  // 'path' is an option of the inbox, not of this command.
  const reason = named.replace(/^Option '\w+': /, '')
  return `the inbox does not work: ${reason}${adviceOf(reason, cause, flags)}`
}

const REDIS_PORT = 6379
const POSTGRES_PORT = 5432
/** Errors of ioredis for a server that accepts a connection and says nothing, or ends it. */
const SILENT = /^(?:Socket timeout|Redis closed the connection)/

/** Returns why there is no connection or no login, with the flag to change; `undefined` for any other failure. */
function openingFailure(origin: unknown, { redis, postgres = '' }: InboxFlags): string | undefined {
  const [address, flag, port] =
    redis === undefined ? [postgres, '--postgres', POSTGRES_PORT] : [redis, '--redis', REDIS_PORT]
  const url = URL.canParse(address) ? new URL(address) : undefined
  // A Unix socket, whose path is in the reason.
  if (url === undefined || url.hostname === '' || url.searchParams.has('host')) return undefined
  const server = `${url.hostname}:${url.port || port}`
  const reason = printable(reasonOf(origin)).replace(/\.$/, '')
  if (/^(?:WRONGPASS|NOAUTH) /.test(reason))
    return `the Redis at ${server} refuses the login (${reason}): give ${flag} the right password, and the username if there is one`
  if (adviceOn(origin, []) === undefined && !SILENT.test(reason)) return undefined
  return `there is no connection to ${server} (${reason}): check that the server runs and that ${flag} has its address, with TLS only if the server uses it`
}

function codeOf(error: unknown): unknown {
  return (Object(error) as { readonly code?: unknown }).code
}

/** PostgreSQL's codes for a refused login; `NO_DATABASE` is its code for a database that does not exist. */
const LOGIN: readonly unknown[] = ['28P01', '28000']
const NO_DATABASE = '3D000'

/** What to do, if the error says: the package's own advice, or that of the table. Otherwise nothing, rather than a guess. */
function adviceOf(reason: string, cause: unknown, { sqlite }: InboxFlags): string {
  const code = codeOf(cause)
  if (LOGIN.includes(code)) return ': give --postgres the right user name and password'
  if (code === NO_DATABASE) return ': give --postgres the name of a database that exists'
  if (sqlite !== undefined) return code === 'configuration_invalid' ? '. Is it the right file?' : ''
  const advice = adviceOn(cause, ['redis', 'postgres'])
  return advice === undefined || reason.includes(advice.fix) ? '' : `: ${advice.cause}; ${advice.fix}`
}

/** Flags for options of `bullmqInbox` and `dashboard`. */
const FLAGS: Readonly<Record<string, string>> = {
  connection: '--redis',
  postgres: '--postgres',
  traceUrl: '--trace-url',
}
const NAMED_OPTION = new RegExp(`(?:(?:the o|O)ption )?['\`](${Object.keys(FLAGS).join('|')})['\`]`, 'g')

function withFlags(text: string): string {
  return text.replace(NAMED_OPTION, (_, name) => FLAGS[name] ?? '')
}

function noQueue({ redis, queue = 'ackhook', prefix = 'bull', schema = 'bullmq' }: InboxFlags): string {
  const [where, flag] =
    redis === undefined ? [`schema ${schema}`, '--schema'] : [`prefix ${prefix}`, '--prefix']
  return `there is no queue ${queue} with ${where}: set --queue and ${flag} to the values that your app passes to bullmqInbox`
}

/** Returns the first reason in an error. An error about a host with several addresses has no message of its own. */
export function reasonOf(error: unknown): string {
  const { errors, message, cause } = Object(error) as Partial<AggregateError> & { readonly cause?: unknown }
  if (Array.isArray(errors) && errors.length > 0) return reasonOf(errors[0])
  if (isError(cause) && (!message || (error as Error).name === 'DeadlineError')) return reasonOf(cause)
  return message || String(error)
}

import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { isError, printable, withDeadline } from '@ackhook/core/spi'
import { UsageError } from '../command/usage-error.ts'

/** Keeps the command under two seconds, including the start of the process. */
const REPLY_MS = 1200
const REDIS_PORT = 6379
const POSTGRES_PORT = 5432

/**
 * Reports within two seconds why a Redis server cannot be used. Its client would keep trying, and every call of the
 * inbox would end in a timeout without a reason.
 */
export async function checkRedis(url: string): Promise<void> {
  const address = addressOf(url, REDIS_PORT)
  if (address === undefined) return
  const { hostname, port, username, password, isTls } = address
  const auth = password === '' ? [] : [command('AUTH', ...(username === '' ? [] : [username]), password)]
  const reply = await reach(address, {
    connect: () =>
      isTls
        ? connectTls({ host: hostname, port, ...(isIP(hostname) === 0 && { servername: hostname }) })
        : connectTcp(port, hostname),
    ready: isTls ? 'secureConnect' : 'connect',
    request: [...auth, command('PING')].join(''),
    // Reply to PING, the last command: PONG, or an error that demands a login first.
    isReply: text => /^(?:\+PONG|-(?!ERR).*|[^+-].*)\r?\n/m.test(text),
    flag: '--redis',
  })
  const refusal = /^-((?:WRONGPASS|NOAUTH)[^\r\n]*)/m.exec(reply)?.[1]
  if (refusal !== undefined) {
    throw new UsageError(
      `the Redis at ${hostname}:${port} refuses the login (${printable(refusal)}): give --redis the right password, and the username if there is one`,
    )
  }
}

/** First message of a client, which asks whether the server supports TLS. The reply is one letter. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** Reports within two seconds why PostgreSQL does not reply. The client itself checks the login. */
export async function checkPostgres(url: string): Promise<void> {
  const address = addressOf(url, POSTGRES_PORT)
  if (address === undefined) return
  const { hostname, port } = address
  await reach(address, {
    connect: () => connectTcp(port, hostname),
    ready: 'connect',
    request: SSL_REQUEST,
    isReply: text => text.length > 0,
    flag: '--postgres',
  })
}

interface Address {
  readonly hostname: string
  readonly port: number
  readonly username: string
  readonly password: string
  readonly isTls: boolean
}

interface Visit {
  readonly connect: () => Socket
  /** Socket event after which it is writable. */
  readonly ready: 'connect' | 'secureConnect'
  readonly request: string | Uint8Array
  /** Returns whether the bytes so far are a reply. */
  readonly isReply: (text: string) => boolean
  readonly flag: string
}

/** Returns `undefined` for a Unix socket or an invalid address, which the inbox checks itself. */
function addressOf(url: string, defaultPort: number): Address | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || parsed.hostname === '' || parsed.searchParams.has('host')) return undefined
  return {
    hostname: parsed.hostname.replace(/^\[|\]$/g, ''),
    port: Number(parsed.port) || defaultPort,
    username: decoded(parsed.username),
    password: decoded(parsed.password),
    isTls: parsed.protocol === 'rediss:',
  }
}

/** Decodes percent-encoding. Text with an invalid `%` stays unchanged. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

async function reach({ hostname, port }: Address, visit: Visit): Promise<string> {
  const socket = visit.connect()
  try {
    return await withDeadline(exchange(socket, visit), { operation: 'the server', ms: REPLY_MS })
  } catch (cause) {
    const reason = reasonOf(cause)
    throw new UsageError(
      `there is no connection to ${hostname}:${port} (${printable(reason)}): check that the server runs and that ${visit.flag} has its address, with TLS only if the server uses it`,
      { cause },
    )
  } finally {
    socket.destroy()
  }
}

function exchange(socket: Socket, { ready, request, isReply }: Visit): Promise<string> {
  return new Promise((resolve, reject) => {
    let reply = ''
    // The listener stays, because a destroyed socket may still emit an error.
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the connection was closed')))
    socket.once(ready, () => socket.write(request))
    socket.setEncoding('utf8').on('data', chunk => {
      reply += chunk
      if (isReply(reply)) resolve(reply)
    })
  })
}

/** Formats a command in Redis' protocol. */
function command(...words: readonly string[]): string {
  return `*${words.length}\r\n${words.map(word => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`
}

/** Returns the first reason in an error. An error about a host with several addresses has no message of its own. */
export function reasonOf(error: unknown): string {
  const { errors, message, cause } = Object(error) as Partial<AggregateError> & { readonly cause?: unknown }
  if (Array.isArray(errors) && errors.length > 0) return reasonOf(errors[0])
  if (isError(cause) && (!message || (error as Error).name === 'DeadlineError')) return reasonOf(cause)
  return message || String(error)
}

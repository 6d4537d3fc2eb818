import type { PostResult } from '@ackhook/testing'
import { excerpt } from '../terminal/text.ts'

type Reply = Pick<PostResult, 'status' | 'code' | 'error' | 'location'>

/** The verb that made the request, which decides the options that a hint may name. */
export type Requester = 'send' | 'replay' | 'listen' | 'emulator' | 'conformance'

interface Hint {
  readonly applies: (reply: Reply) => boolean
  readonly lines: readonly string[] | ((by: Requester, replies: readonly Reply[]) => readonly string[])
  /** The verbs that give the hint. Default: all. */
  readonly by?: readonly Requester[]
}

const isStatus = (status: number) => (reply: Reply) => reply.status === status
const isCode = (code: string) => (reply: Reply) => reply.code === code
const isError = (pattern: RegExp) => (reply: Reply) => reply.error !== undefined && pattern.test(reply.error)
/** Every reply of a receiver has a code. */
const isForeign = ({ status, code }: Reply) => status !== undefined && code === undefined

const HINTS: readonly Hint[] = [
  {
    applies: isCode('unauthorized'),
    by: ['send', 'replay', 'emulator', 'conformance'],
    lines: [
      'The receiver refused the signature. Its log has the reason. Likely causes, most likely first:',
      '  1. The secret: your app uses a different one. Both sides read SIGNING_SECRET.',
      '  2. The unit of t: --timestamp-unit must match contract.timestampUnit in your app.',
      "  3. The clock: your app's differs from this machine's by more than the tolerance, 5 minutes by default.",
      '  4. The header: --header and --scheme must match contract.header and contract.scheme in your app.',
      "To find out which, run npx ackhook listen --forward <url> with your app's secret, and send to its address.",
    ],
  },
  {
    applies: isCode('envelope_invalid'),
    lines: [
      'Your app expects other field names in the body. Set them as in its contract.fields: --field id=event_id.',
    ],
  },
  {
    applies: isCode('json_invalid'),
    lines: ['The body is genuine but not JSON: the saved delivery is not an event.'],
  },
  {
    applies: isCode('event_invalid'),
    lines: [
      "The data does not match your app's schema for this type in `events`, or its contract.upcast threw.",
      "Your app's log names the field. Send other data with --data.",
    ],
  },
  {
    applies: isCode('body_unavailable'),
    lines: [
      'A body parser read the body first: mount the webhook route above it, such as app.use(express.json()) or middleware that calls json().',
    ],
  },
  {
    applies: isCode('secret_unavailable'),
    lines: ['Your app could not read its secret: is SIGNING_SECRET set where it runs? Its log says more.'],
  },
  { applies: isCode('handler_failed'), lines: ["A handler threw: your app's log has the error."] },
  {
    applies: ({ status, code }) => status === 503 && code !== undefined,
    by: ['send'],
    lines: [
      'Your app requested a later retry, which the platform would make. To make it here, add --attempts 5.',
    ],
  },
  {
    applies: ({ status, code }) => status === 503 && code !== undefined,
    by: ['replay'],
    lines: ['Your app requested a later retry, which the platform would make. Replay the delivery later.'],
  },
  {
    applies: reply => isForeign(reply) && (reply.status === 401 || reply.status === 403),
    lines: [
      'This reply is not from an Ackhook receiver: middleware or a proxy in front of it requires a login or token.',
    ],
  },
  {
    applies: isStatus(404),
    lines: [
      'Your app has no route for this path or method: check the path of the address, and that the route takes a POST.',
    ],
  },
  {
    applies: reply => isForeign(reply) && reply.status === 405,
    lines: ['No route accepts a POST at this path: check the path, and that it is mounted with app.post.'],
  },
  {
    applies: ({ status = 0 }) => status >= 300 && status < 400,
    lines: (_by, replies) => [redirectHint(replies)],
  },
  {
    applies: reply => isForeign(reply) && reply.status! >= 200 && reply.status! < 300,
    lines: [
      "This reply is not from an Ackhook receiver: check the path of the address, and that the route returns the receiver's own reply.",
    ],
  },
  {
    applies: isError(/^ECONNREFUSED$/),
    lines: ['Nothing listens at this address: start your app first, and check the port.'],
  },
  {
    applies: isError(/^(ENOTFOUND|EAI_AGAIN)$/),
    lines: ['There is no such host, or its name cannot be resolved: check the address.'],
  },
  {
    applies: isError(/^(EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$/),
    lines: ['The host cannot be reached from here: check the address, the network and a firewall.'],
  },
  {
    applies: isError(/^(ECONNRESET|EPIPE|UND_ERR_SOCKET|HPE_\w+)$/),
    lines: [
      'The connection ended without a reply. Either your app crashed, which its log shows, or its route replies itself beside the receiver, or this port speaks HTTPS: try https://.',
    ],
  },
  {
    applies: isError(/no reply within/),
    lines: by => [
      `Your app did not reply in time: does a handler block its event loop? To wait longer, raise --timeout${by === 'emulator' ? OF_START : ''}.`,
    ],
  },
  {
    applies: isError(/SELF_SIGNED|UNABLE_TO_|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE|INVALID_CA/),
    lines: by => [
      `Node does not trust the certificate of this address, such as a self-signed one: ${acceptIt(by)}set NODE_EXTRA_CA_CERTS to the file of its authority.`,
    ],
  },
  {
    applies: isError(/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/),
    lines: by => [
      `The certificate of this address is out of date: ${acceptIt(by)}renew it, and check this machine's clock.`,
    ],
  },
  {
    applies: isError(/ERR_TLS_CERT_ALTNAME_INVALID/),
    lines: by => [
      `The certificate of this address is for another host name: ${acceptIt(by)}use the name that it is for.`,
    ],
  },
  {
    applies: isError(/^(EPROTO|ERR_SSL_\w+)$/),
    lines: ['TLS failed: this port probably speaks plain HTTP. Try http://.'],
  },
]

const SHOWN_ADDRESSES = 3

function redirectHint(replies: readonly Reply[]): string {
  const targets = [...new Set(replies.flatMap(({ location }) => location ?? []))]
  const shown = targets.slice(0, SHOWN_ADDRESSES).map(excerpt).join(' or ')
  const where = shown === '' ? 'the address it leads to' : `${shown}, if that is your app's`
  return `A redirect is not an acknowledgement, and is not followed: send to ${where}.`
}

const OF_START = ' of ackhook emulator start'

function acceptIt(by: Requester): string {
  return `for an app of your own, add --insecure${by === 'emulator' ? ' to ackhook emulator start' : ''}; otherwise `
}

/** Returns advice for a newcomer, once for each kind of reply. */
export function hintsFor(replies: readonly Reply[], by: Requester): string[] {
  return HINTS.filter(hint => hint.by?.includes(by) !== false && replies.some(hint.applies)).flatMap(
    ({ lines }) => (typeof lines === 'function' ? lines(by, replies) : lines),
  )
}

/** Returns what replies of 5xx say about themselves, each once. */
export function messagesOf(replies: readonly Pick<PostResult, 'status' | 'body'>[]): readonly string[] {
  const failed = replies.filter(({ status = 0 }) => status >= 500)
  return [...new Set(failed.flatMap(({ body = '' }) => messageIn(body) ?? []))]
}

function messageIn(body: string): string | undefined {
  try {
    const message: unknown = Object(JSON.parse(body)).message
    return typeof message === 'string' && message !== '' ? message : undefined
  } catch {
    return undefined
  }
}

import type { PostResult } from '@ackhook/testing'

type Reply = Pick<PostResult, 'status' | 'code' | 'error'>

interface Hint {
  readonly applies: (reply: Reply) => boolean
  readonly lines: readonly string[]
}

const isStatus = (status: number) => (reply: Reply) => reply.status === status
const isCode = (code: string) => (reply: Reply) => reply.code === code
const isError = (part: string) => (reply: Reply) => reply.error?.includes(part) === true
/** Every reply of a receiver has a code. */
const isForeign = ({ status, code }: Reply) => status !== undefined && code === undefined

const HINTS: readonly Hint[] = [
  {
    applies: isCode('unauthorized'),
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
    lines: ['A body parser read the body first: mount the webhook route above app.use(express.json()).'],
  },
  {
    applies: isCode('secret_unavailable'),
    lines: ['Your app could not read its secret: is SIGNING_SECRET set where it runs? Its log says more.'],
  },
  { applies: isCode('handler_failed'), lines: ["A handler threw: your app's log has the error."] },
  {
    applies: ({ status, code }) => status === 503 && code !== undefined,
    lines: [
      'Your app requested a later retry, which the platform would make. To make it here, add --attempts 5.',
    ],
  },
  {
    applies: reply => isForeign(reply) && (reply.status === 401 || reply.status === 403),
    lines: [
      'This reply is not from an Ackhook receiver: middleware or a proxy in front of it requires a login or token.',
    ],
  },
  { applies: isStatus(404), lines: ['Your app has no route at this path: check the path of the address.'] },
  {
    applies: reply => isForeign(reply) && reply.status === 405,
    lines: ['No route accepts a POST at this path: check the path, and that it is mounted with app.post.'],
  },
  {
    applies: ({ status = 0 }) => status >= 300 && status < 400,
    lines: ['A redirect is not an acknowledgement: send to the address it leads to.'],
  },
  {
    applies: reply => isForeign(reply) && reply.status! >= 200 && reply.status! < 300,
    lines: ['This reply is not from an Ackhook receiver: check the path of the address.'],
  },
  {
    applies: isError('ECONNREFUSED'),
    lines: ['Nothing listens at this address: start your app first, and check the port.'],
  },
  { applies: isError('ENOTFOUND'), lines: ['There is no such host: check the address.'] },
  {
    applies: isError('no reply within'),
    lines: [
      'Your app did not reply in time: does a handler block its event loop? To wait longer, raise --timeout.',
    ],
  },
]

/** Returns advice for a newcomer, once for each kind of reply. */
export function hintsFor(replies: readonly Reply[]): string[] {
  return HINTS.filter(({ applies }) => replies.some(applies)).flatMap(({ lines }) => lines)
}

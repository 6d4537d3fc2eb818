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
      'The receiver refused the signature. Its log has the reason. The likely causes, the most likely first:',
      '  1. The secret: your app has another one than the signature was made with. Both sides read SIGNING_SECRET.',
      '  2. The unit of t: your app has contract.timestampUnit, and --timestamp-unit is not the same.',
      '  3. The clock: this machine and that of your app differ by more than its tolerance, 5 minutes by default.',
      '  4. The header: your app has contract.header or contract.scheme; give the same as --header or --scheme.',
      'To find out which, start npx ackhook listen --forward <url> with the secret that your app has, and send to it.',
    ],
  },
  {
    applies: isCode('envelope_invalid'),
    lines: [
      'The body has other fields than your app expects: it has contract.fields. Name them: --field id=event_id.',
    ],
  },
  {
    applies: isCode('json_invalid'),
    lines: ['The body is genuine, and is not JSON: the saved delivery holds something else than an event.'],
  },
  {
    applies: isCode('event_invalid'),
    lines: [
      'The data does not match the schema that your app has for this type in `events`, or its contract.upcast threw.',
      'The log of your app names the field. Give other data with --data.',
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
  { applies: isCode('handler_failed'), lines: ['A handler threw: the log of your app has the error.'] },
  {
    applies: ({ status, code }) => status === 503 && code !== undefined,
    lines: ['Your app asks for the event again later, as the platform would send it. Add --attempts 5.'],
  },
  {
    applies: reply => isForeign(reply) && (reply.status === 401 || reply.status === 403),
    lines: [
      'This reply is not from a receiver of Ackhook: something in front of it asks for a login or a token.',
    ],
  },
  { applies: isStatus(404), lines: ['Nothing is mounted at this path: check the path of the address.'] },
  {
    applies: reply => isForeign(reply) && reply.status === 405,
    lines: ['Nothing takes a POST at this path: check the path, and that it is mounted with app.post.'],
  },
  {
    applies: ({ status = 0 }) => status >= 300 && status < 400,
    lines: ['A redirect is no acknowledgement: send to the address that it leads to.'],
  },
  {
    applies: reply => isForeign(reply) && reply.status! >= 200 && reply.status! < 300,
    lines: ['This reply is not from a receiver of Ackhook: check the path of the address.'],
  },
  {
    applies: isError('ECONNREFUSED'),
    lines: ['Nothing listens at this address: start your app first, and check the port.'],
  },
  { applies: isError('ENOTFOUND'), lines: ['There is no such host: check the address.'] },
  {
    applies: isError('no reply within'),
    lines: [
      'Your app did not reply in time: does a handler block its event loop? --timeout waits for longer.',
    ],
  },
]

/** Returns advice for a newcomer, once for each kind of reply. */
export function hintsFor(replies: readonly Reply[]): string[] {
  return HINTS.filter(({ applies }) => replies.some(applies)).flatMap(({ lines }) => lines)
}

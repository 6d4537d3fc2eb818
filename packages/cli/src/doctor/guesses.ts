import { Buffer } from 'node:buffer'
import { gunzipSync } from 'node:zlib'
import { bodyReserialized } from './body-reserialized.ts'
import type { Facts, Guess, Suppose } from './evidence.ts'

/** Mishaps of a secret. Each may come together with one of {@link CONTENTS}. */
export const SECRETS: readonly Suppose[] = [secretOther, secretWhiteSpace, secretQuoted, secretEncoded]

/** Mishaps of the signed text: of the body, then of what precedes it. */
export const CONTENTS: readonly Suppose[] = [
  bodyWhiteSpace,
  bodyReserialized,
  bodyWrapped,
  bodyCharset,
  bodyCompressed,
  timestampSigned,
]

function secretOther({ secret, others }: Facts): readonly Guess[] {
  return others.map(other => ({
    cause: 'secret-other',
    key: other.value,
    text: `The delivery is signed with the secret from ${other.source}, not with the one from ${secret.source}. During a rotation your app needs both: secret: [newSecret, oldSecret]. After the rotation, use only the new one.`,
  }))
}

const ENDINGS: readonly [text: string, name: string][] = [
  ['\n', 'a newline'],
  ['\r\n', 'a Windows line ending'],
  [' ', 'a space'],
  ['\t', 'a tab'],
  ['\\n', 'the two characters \\n'],
]

/** Assumes white space that only one side has. */
function secretWhiteSpace({ secret, others }: Facts): readonly Guess[] {
  return [secret, ...others].flatMap(({ value, source }) => [
    ...ENDINGS.filter(([ending]) => value.endsWith(ending)).map(([ending, name]) => ({
      cause: 'secret-trailing-white-space',
      key: value.slice(0, -ending.length),
      text: `The secret from ${source} ends with ${name}, and the real one does not. That happens when a secret is read from a file. Remove it: secret: process.env.SIGNING_SECRET.trim(), or write the file with printf instead of echo.`,
    })),
    {
      cause: 'secret-white-space',
      key: value.trim(),
      text: `The secret from ${source} has white space around it, and the real one does not. Trim it where your app reads it.`,
    },
    ...ENDINGS.map(([ending, name]) => ({
      cause: 'secret-white-space-at-sender',
      key: value + ending,
      text: `The sender signed with ${name} after the secret from ${source}. Remove it where the sender's secret is stored; if you cannot change the sender, your secret must end the same way.`,
    })),
  ])
}

/** Assumes quotes or a name copied from a configuration file. */
function secretQuoted({ secret, others }: Facts): readonly Guess[] {
  return [secret, ...others].flatMap(({ value, source }) => {
    const assigned = /^\s*(?:export\s+)?[A-Za-z_]\w*\s*=\s*["']?(.+?)["']?\s*$/.exec(value)
    const quoted = /^\s*(["'`])(.*)\1\s*$/s.exec(value)
    const halfQuoted = value.replace(/^["'`]|["'`,;]+$/g, '')
    return [
      ...(assigned === null
        ? []
        : [
            {
              cause: 'secret-with-name',
              key: assigned[1] as string,
              text: `The secret from ${source} is a whole line, NAME=value. Keep only the part after the equals sign.`,
            },
          ]),
      ...[quoted?.[2], halfQuoted]
        .filter(key => key !== undefined)
        .map(key => ({
          cause: 'secret-quoted',
          key,
          text: `The secret from ${source} includes quotes that are not part of it. Some tools, such as docker --env-file, keep quotes: write the value without them.`,
        })),
      ...['"', "'"].map(quote => ({
        cause: 'secret-quoted-at-sender',
        key: quote + value + quote,
        text: `The sender signed with quotes around the secret from ${source}. Remove them where the sender's secret is stored.`,
      })),
    ]
  })
}

/** Assumes the same secret in another form: hexadecimal, base64, with or without its prefix. */
function secretEncoded({ secret, others }: Facts): readonly Guess[] {
  return [secret, ...others].flatMap(({ value, source }) => {
    const bare = value.replace(/^[a-z]+_/, '')
    const guesses: Guess[] = []
    const decoded = (key: Uint8Array, form: string): void => {
      guesses.push({
        cause: `secret-${form === 'hexadecimal' ? 'hex' : 'base64'}`,
        key,
        text: `The sender signed with the bytes that the secret from ${source} encodes in ${form}, but a receiver uses the secret as text. Use the secret exactly as the platform shows it; if it shows this text, the sender must not decode it.`,
      })
    }
    for (const text of new Set([value, bare])) {
      if (/^(?:[0-9a-f]{2})+$/i.test(text)) decoded(Buffer.from(text, 'hex'), 'hexadecimal')
      if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) decoded(Buffer.from(text, 'base64'), 'base64')
    }
    for (const [form, encoding] of [
      ['hexadecimal', 'hex'],
      ['base64', 'base64'],
      ['base64', 'base64url'],
    ] as const) {
      guesses.push({
        cause: `secret-${encoding === 'hex' ? 'hex' : 'base64'}`,
        key: Buffer.from(value).toString(encoding),
        text: `The sender signed with the ${form} form of the secret from ${source}. Copy the secret exactly as the platform shows it, without decoding it.`,
      })
    }
    if (bare !== value) {
      guesses.push({
        cause: 'secret-prefix',
        key: bare,
        text: `The sender signed without the prefix of the secret from ${source}. Use the whole secret on both sides, or omit its prefix on both.`,
      })
    }
    return guesses
  })
}

const BOM = '\ufeff'
const ADVICE =
  'Give the receiver the bytes as they arrived, and look for an editor, a proxy or a template that reformats text.'

/** Assumes that white space, line ends or a byte order mark were added or removed in transit. */
function bodyWhiteSpace({ text }: Facts): readonly Guess[] {
  const unix = text.replaceAll('\r\n', '\n')
  const supposed: [string, string, string][] = [
    ['body-end', text.trimEnd(), 'A line break or a space was added to the end of the body'],
    ['body-end', `${text}\n`, 'The line break at the end of the body was removed'],
    ['body-end', `${text}\r\n`, 'The line break at the end of the body was removed'],
    ['body-line-ends', unix, "The body's line endings were changed from Unix (LF) to Windows (CRLF)"],
    [
      'body-line-ends',
      unix.replaceAll('\n', '\r\n'),
      "The body's line endings were changed from Windows (CRLF) to Unix (LF)",
    ],
    [
      'body-bom',
      BOM + text,
      'The byte order mark at the start of the body was removed, as decoding to a string does',
    ],
  ]
  if (text.startsWith(BOM)) {
    supposed.push(['body-bom', text.slice(1), 'A byte order mark was added before the body'])
  }
  // Last, because trim() treats a byte order mark as white space.
  supposed.push(['body-white-space', text.trim(), 'White space was added around the body'])
  return supposed.map(([cause, signed, what]) => ({
    cause,
    body: new TextEncoder().encode(signed),
    text: `${what}, after it was signed. ${ADVICE}`,
  }))
}

/** Assumes that the body became a JSON string, a form field or base64 in transit. */
function bodyWrapped({ text }: Facts): readonly Guess[] {
  const trimmed = text.trim()
  const supposed: [string | Uint8Array | undefined, string][] = [
    [
      stringIn(trimmed),
      'The body was encoded as a JSON string: JSON.stringify ran on text that was already JSON. Remove one JSON.stringify',
    ],
    [
      JSON.stringify(text),
      'The sender signed the body as a JSON string, with quotes and backslashes, but sent the text inside. Sign and send the same bytes',
    ],
    [
      fieldIn(trimmed),
      'The body was turned into a form field. Something sends it as application/x-www-form-urlencoded; it must be forwarded as application/json, byte for byte',
    ],
    [
      base64In(trimmed),
      'The body is the signed body in base64, as API gateways and AWS Lambda deliver it. Decode it first: Buffer.from(event.body, "base64")',
    ],
  ]
  return supposed.flatMap(([signed, what]) =>
    signed === undefined ? [] : [{ cause: 'body-wrapped', body: Buffer.from(signed), text: `${what}.` }],
  )
}

function stringIn(text: string): string | undefined {
  if (!text.startsWith('"')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

function fieldIn(text: string): string | undefined {
  if (!/^[^\s{}"]*(=|%7B)/i.test(text)) return undefined
  const [first] = new URLSearchParams(text)
  if (first === undefined) return undefined
  return first[1] === '' ? first[0] : first[1]
}

function base64In(text: string): Uint8Array | undefined {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined
}

/** Assumes that the bytes were read in one character set and written in another. */
function bodyCharset({ delivery, text }: Facts): readonly Guess[] {
  const { body } = delivery
  const supposed: [Uint8Array | undefined, string][] = [
    [Buffer.from(text, 'latin1'), 'read as Latin-1 and written as UTF-8 (é became Ã©)'],
    [fromWindows1252(text), 'read as Windows-1252 and written as UTF-8 (é became Ã©)'],
    [Buffer.from(Buffer.from(body).toString('latin1'), 'utf8'), 'read as UTF-8 and written as Latin-1'],
    [
      Buffer.from(new TextDecoder('windows-1252').decode(body), 'utf8'),
      'read as UTF-8 and written as Windows-1252',
    ],
    [Buffer.from(Buffer.from(body).toString('utf16le'), 'utf8'), 'written as UTF-16'],
    [Buffer.from(text.normalize('NFD'), 'utf8'), 'converted to another Unicode normalization form (NFC)'],
    [Buffer.from(text.normalize('NFC'), 'utf8'), 'converted to another Unicode normalization form (NFD)'],
  ]
  return supposed.flatMap(([signed, what]) =>
    signed === undefined
      ? []
      : [
          {
            cause: 'body-charset',
            body: signed,
            text: `The body was ${what} after it was signed. Handle it as bytes (a Buffer) from the socket to the receiver, never as a string with an encoding.`,
          },
        ],
  )
}

/** Maps each Windows-1252 character that Latin-1 lacks to its byte. */
const WINDOWS_1252 = new Map<string, number>()
for (let byte = 0x80; byte < 0xa0; byte++) {
  WINDOWS_1252.set(new TextDecoder('windows-1252').decode(Uint8Array.of(byte)), byte)
}

function fromWindows1252(text: string): Uint8Array | undefined {
  const bytes = Array.from(text, char => WINDOWS_1252.get(char) ?? char.codePointAt(0) ?? 0)
  return bytes.every(byte => byte < 0x100) ? Uint8Array.from(bytes) : undefined
}

const MAX_BYTES = 64 * 1024 ** 2

function bodyCompressed({ delivery: { body } }: Facts): readonly Guess[] {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return []
  try {
    return [
      {
        cause: 'body-compressed',
        body: gunzipSync(body, { maxOutputLength: MAX_BYTES }),
        text: 'The body was compressed with gzip after it was signed. Disable request compression in the proxy in front of your app: the signature covers the plain bytes.',
      },
    ]
  } catch {
    return []
  }
}

/** Assumes that the text signed before the body is not `<t>.` with the header's `t`. */
function timestampSigned({ signature, timestampMs }: Facts): readonly Guess[] {
  if (signature === undefined) return []
  const t = signature.timestamp
  const units =
    timestampMs === undefined
      ? []
      : [
          [String(Math.floor(timestampMs / 1000)), 'seconds'],
          [String(timestampMs), 'milliseconds'],
          [new Date(timestampMs).toISOString(), 'ISO 8601'],
        ].filter(([text]) => text !== t)
  return [
    ...units.map(([text, unit]) => ({
      cause: 'timestamp-unit-signed',
      prefix: `${text}.`,
      text: `The sender signed the time in ${unit} and wrote it into the header in another unit. The text of t in the header must be the text that was signed.`,
    })),
    {
      cause: 'timestamp-not-signed',
      prefix: '',
      text: 'The sender signed the body without the timestamp. It must sign the text of t, a dot, and the body: <t>.<body>.',
    },
    {
      cause: 'timestamp-separator',
      prefix: t,
      text: 'The sender signed the timestamp and the body without the dot between them. It must sign <t>.<body>.',
    },
    {
      cause: 'timestamp-separator',
      prefix: `${t}:`,
      text: 'The sender put a colon between the timestamp and the body. It must sign <t>.<body>, with a dot.',
    },
  ]
}

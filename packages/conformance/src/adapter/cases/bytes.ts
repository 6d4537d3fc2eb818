import { expectAccepted, expectNotHandled, expectReply } from '../replies.ts'
import type { AdapterCase, ServerTarget } from '../target.ts'
import { exchange } from '../wire/connection.ts'
import { envelope, newId, signedRequest } from '../wire/signed-event.ts'

/** Bodies that a string or a JSON parser would change. */
const BODIES: readonly (readonly [id: string, what: string, body: (id: string) => string | Uint8Array])[] = [
  ['bom', 'a byte order mark', id => `\ufeff${envelope(id)}`],
  ['invalid-utf8', 'invalid UTF-8', id => withBytes(id, [0xff, 0xfe, 0xc3, 0x28])],
  ['lone-continuation', 'a lone continuation byte', id => withBytes(id, [0x80])],
  ['nul', 'an escaped NUL', id => envelope(id, '"a\\u0000b"')],
  ['crlf', 'CRLF between the fields', id => envelope(id).replaceAll(',"', ',\r\n"')],
  ['trailing-newline', 'a newline at the end', id => `${envelope(id)}\n`],
  ['white-space', 'white space around everything', id => ` \t${envelope(id, ' [ 1 , 2 ] ')}\r\n `],
  ['escaped', 'é written as \\u00e9', id => envelope(id, '"\\u00e9"')],
  ['composed', 'é as one code point', id => envelope(id, '"é"')],
  ['decomposed', 'é as two code points', id => envelope(id, '"e\u0301"')],
  ['float', 'a number that would be printed differently', id => envelope(id, '[1.0,1e3,9007199254740993]')],
  ['repeated-key', 'a repeated key', id => envelope(id, '{"a":1,"a":2}')],
  ['solidus', 'an escaped solidus', id => envelope(id, '"\\/"')],
  ['form-like', 'characters that a form parser decodes', id => envelope(id, '"a=b&c=%20+d"')],
]

/** The signature covers the bytes as sent, so the receiver must see exactly those. */
export const byteCases: readonly AdapterCase[] = [
  ...BODIES.map(
    ([what, text, body]): AdapterCase => ({
      id: `adapter.bytes.${what}`,
      name: `a body with ${text} keeps its signature`,
      run: target => acceptsBytes(target, body),
    }),
  ),
  {
    id: 'adapter.bytes.raw-nul',
    name: 'a body with a raw NUL byte keeps its signature: refused as JSON, not as forged',
    async run(target) {
      const reply = await exchange(target.url, signedRequest(target, withBytes(newId(), [0])))
      expectReply(reply, 400, 'json_invalid')
    },
  },
  {
    id: 'adapter.bytes.empty',
    name: 'an empty signed body is refused as JSON, not as forged',
    async run(target) {
      expectReply(await exchange(target.url, signedRequest(target, '')), 400, 'json_invalid')
    },
  },
  {
    id: 'adapter.bytes.changed',
    name: 'one changed byte is refused',
    async run(target) {
      const id = newId()
      const request = signedRequest(target, envelope(id))
      const reply = await exchange(target.url, { ...request, body: envelope(id).replace('plain', 'plaim') })
      expectReply(reply, 401, 'unauthorized')
      await expectNotHandled(target, id)
    },
  },
  {
    id: 'adapter.bytes.chunked',
    name: 'a chunked body arrives whole',
    run: target => acceptsFramed(target, 300),
  },
  {
    id: 'adapter.bytes.tiny-chunks',
    name: 'a body in one-byte chunks arrives whole',
    // Few enough bytes for a loaded machine to take them one at a time within the body timeout.
    run: target => acceptsFramed(target, 1, 600),
  },
  {
    id: 'adapter.bytes.split',
    name: 'a body of declared length in many packets arrives whole',
    async run(target) {
      const id = newId()
      const request = signedRequest(target, envelope(id, large(20_000)))
      await expectAccepted(target, { id, request }, { chunkBytes: 999 })
    },
  },
]

async function acceptsBytes(target: ServerTarget, body: (id: string) => string | Uint8Array): Promise<void> {
  const id = newId()
  await expectAccepted(target, { id, request: signedRequest(target, body(id)) })
}

async function acceptsFramed(target: ServerTarget, chunkBytes: number, bytes = 3000): Promise<void> {
  const id = newId()
  const request = signedRequest(target, envelope(id, large(bytes)))
  await expectAccepted(target, { id, request }, { framing: 'chunked', chunkBytes })
}

function large(characters: number): string {
  return JSON.stringify('é'.repeat(characters / 2))
}

/** Returns an envelope whose note is a JSON string of exactly these bytes. */
function withBytes(id: string, bytes: readonly number[]): Uint8Array {
  const [before = '', after = ''] = envelope(id, '"<>"').split('<>')
  return Buffer.concat([Buffer.from(before), Uint8Array.from(bytes), Buffer.from(after)])
}

/** Returns a signed body of exactly this many bytes. */
export function bodyOfBytes(id: string, bytes: number): string {
  const empty = envelope(id, '""')
  return envelope(id, `"${'x'.repeat(bytes - empty.length)}"`)
}

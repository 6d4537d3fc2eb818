import { Buffer } from 'node:buffer'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../command/usage-error.ts'
import { eventsIn } from './events-in-file.ts'
import { UnreadableRest } from './split-events.ts'

/** Events whose bytes a parser would change. */
const A =
  '{"id":"evt_1","data":{"n":12345678901234567890,"n":1.0,"e":1e3,"u":"\\u00e9\\/","text":"[{,}] \\" \\\\ ü日\u0085\u00a0"}}'
const B = '{"2":0,"1":0,"__proto__":{"x":[1,[2,{"y":"]"}]]},"id":"evt_2"}'
const C = '{ "id" : "evt_3" , "data" : [ ] }'
const PRETTY = JSON.stringify({ id: 'evt_4', data: { list: [{ a: 1 }, { b: [] }], text: '}\n{' } }, null, 2)

async function* inChunks(bytes: Uint8Array, size: number): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

interface Read {
  readonly texts: readonly string[]
  readonly lines: readonly number[]
  readonly error: unknown
}

async function read(content: string | Uint8Array, size = 65_536): Promise<Read> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const [texts, lines]: [string[], number[]] = [[], []]
  try {
    for await (const event of eventsIn(inChunks(bytes, size), 'events.txt')) {
      texts.push(Buffer.from(event.bytes).toString())
      lines.push(event.line)
    }
  } catch (error) {
    return { texts, lines, error }
  }
  return { texts, lines, error: undefined }
}

const utf16 = (text: string, { mark, big }: { mark: boolean; big: boolean }): Uint8Array => {
  const bytes = Buffer.from((mark ? '\ufeff' : '') + text, 'utf16le')
  return big ? bytes.swap16() : bytes
}

const LINES = `${A}\n${B}\n\n${C}\n`
const FORMS: Readonly<Record<string, string | Uint8Array>> = {
  'lines that end with LF': LINES,
  'lines that end with CR LF': LINES.replaceAll('\n', '\r\n'),
  'lines that end with CR': LINES.replaceAll('\n', '\r'),
  'lines without an end': `${A}\n${B}\n${C}`,
  'lines with empty ones before, between and after': `\n \r\n${A}\n\t\n\n${B}\n${C}\n\n  `,
  'an array on one line': `[${A},${B},${C}]`,
  'an array with an event a line': `[\n${A},\n${B}\n,${C}\n]\n`,
  'a pretty-printed array': `\n[\n    ${A}  ,\r\n\t${B},\n\n  ${C}\n]`,
  'arrays one after another': `[${A}]\n[]\n[${B},${C}]\n`,
  'values without anything between': `${A}${B}${C}`,
  'values and an array on one line': `${A} ${B} [${C}]`,
  'record separators': `\x1e${A}\n\x1e${B}\n\x1e${C}\n`,
  'record separators between values of several lines': `\x1e${A}\n\x1e\n${B}\n\n\x1e${C}`,
  'a byte order mark': `\ufeff${LINES}`,
  'a byte order mark before an array': `\ufeff[${A},${B},${C}]`,
  'UTF-16 LE with a mark': utf16(LINES, { mark: true, big: false }),
  'UTF-16 BE with a mark': utf16(LINES, { mark: true, big: true }),
  'UTF-16 LE without one': utf16(`[${A},${B},${C}]`, { mark: false, big: false }),
  'UTF-16 BE without one': utf16(LINES, { mark: false, big: true }),
  gzip: gzipSync(LINES),
  'gzip of an array with a mark': gzipSync(`\ufeff[${A},${B},${C}]`),
  'gzip of UTF-16': gzipSync(utf16(LINES, { mark: true, big: false })),
  'gzip members one after another': Buffer.concat(
    [`${A}\n`, `${B}\n${C.slice(0, 9)}`, C.slice(9)].map(text => gzipSync(text)),
  ),
  'gzip with zeros behind': Buffer.concat([gzipSync(LINES), Buffer.alloc(700)]),
}

describe.each(Object.entries(FORMS))('%s', (_name, content) => {
  it.each([1, 2, 3, 7, 64, 65_536])('give the exact bytes of each event, in chunks of %i', async size => {
    expect(await read(content, size)).toMatchObject({ texts: [A, B, C], error: undefined })
  })
})

it.each([
  ['pretty-printed values one after another', `${PRETTY}\n${PRETTY}\n`, [PRETTY, PRETTY]],
  ['one value', PRETTY, [PRETTY]],
  [
    'a pretty-printed value with an element that is a value on a line',
    '{"a":[\n{"b":1}\n]}\n',
    ['{"a":[\n{"b":1}\n]}'],
  ],
  ['an empty array', ' [ ] ', []],
  ['an empty file', '', []],
  ['a file of line ends', '\n\r\n', []],
])('%s', async (_name, content, texts) => {
  for (const size of [1, 5, 65_536])
    expect(await read(content, size)).toMatchObject({ texts, error: undefined })
})

it('tells the line of each event, whatever the line ends', async () => {
  for (const end of ['\n', '\r\n', '\r']) {
    expect((await read([A, '', B, C].join(end), 3)).lines).toEqual([1, 3, 4])
    expect((await read(['[', A, ',', B, ']'].join(end), 3)).lines).toEqual([2, 4])
    expect((await read([PRETTY.replaceAll('\n', end), PRETTY].join(end), 3)).lines).toEqual([1, 15])
  }
})

it.each([
  ['lines', `${A}\nnot json\n${B}\n{"cut":\n${C}`, [A, 'not json', B, '{"cut":', C]],
  ['lines of which the first is bad', `{"cut":\n${A}\n${B}`, ['{"cut":', A, B]],
  ['lines of which the first is a comment', `# exported\n${A}\n`, ['# exported', A]],
  ['an array', `[${A},{'id':1},,${B}]`, [A, "{'id':1}", ',', B]],
  ['an array with a comma at its end', `[${A},]`, [A, ',']],
  ['an array without a comma', `[${A}${B},${C}]`, [A + B, C]],
  ['records', `\x1e${A}\n\x1e{"cut":"\n\x1e${B}\n`, [A, '{"cut":"', B]],
])('in %s, what is bad spoils no other event', async (_name, content, texts) => {
  for (const size of [1, 65_536]) expect(await read(content, size)).toMatchObject({ texts, error: undefined })
})

it.each([
  ['an array', `[${A},\n${B}`, [A, B], 1, 'the JSON array that begins there does not end'],
  [
    'a value of an array',
    `[${A},\n${B.slice(0, -9)}`,
    [A],
    2,
    'the JSON value that begins there does not end',
  ],
  [
    'a value of several lines',
    `${PRETTY}\n${PRETTY.slice(0, -1)}`,
    [PRETTY],
    15,
    'the JSON value that begins there does not end',
  ],
  [
    'gzip',
    gzipSync(`${`${A}\n`.repeat(3)}`).subarray(0, -12),
    [],
    1,
    'it cannot be read further: unexpected end of file',
  ],
  [
    'gzip with text behind',
    Buffer.concat([gzipSync(`${A}\n`), Buffer.from(`${B}\n`)]),
    [],
    1,
    'it cannot be read further',
  ],
  [
    'UTF-16',
    utf16(`${A}\n${B}\n`, { mark: true, big: false }).subarray(0, -1),
    [A],
    2,
    'it cannot be read further',
  ],
])(
  '%s that breaks off gives what is complete, and then says so',
  async (_name, content, texts, line, message) => {
    const result = await read(content)
    expect(result.texts.slice(0, texts.length)).toEqual(texts)
    expect(result.error).toBeInstanceOf(UnreadableRest)
    expect(result.error).toMatchObject({ line, message: expect.stringContaining(message) })
  },
)

it('gives up on a value that is no event by its length', async () => {
  for (const content of [`{"a":"${'x'.repeat(70_000_000)}"`, `${A}\n${'x'.repeat(70_000_000)}`])
    expect((await read(content)).error).toMatchObject({ message: expect.stringContaining('64 MiB') })
})

it.each([
  ['CSV', 'id,type\nevt_1,a.b\n'],
  ['CSV', '"id";"type"\n"evt_1";"a.b"\n'],
  ['CSV', 'id\ttype\nevt_1\ta.b'],
  ['XML or HTML', '<!doctype html>\n<title>Log in</title>\n'],
  ['YAML', '- id: evt_1\n  type: a.b\n'],
  ['YAML', 'id: evt_1\ntype: a.b\n'],
  ['a stream of server-sent events', 'data: {"id":"evt_1"}\n\ndata: {"id":"evt_2"}\n'],
  ['text and not JSON', 'evt_1\nevt_2\n'],
  ['compressed with Zstandard', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 4, 0])],
  ['a zip archive', Buffer.from('PK\x03\x04\x14\x00')],
  ['compressed with bzip2', Buffer.from('BZh91AY')],
  ['compressed with xz', Buffer.from('\xfd7zXZ\x00\x00', 'latin1')],
  ['compressed with gzip twice', gzipSync(gzipSync(LINES))],
  ['a tar archive', gzipSync(`events.jsonl${'\0'.repeat(245)}ustar\x0000`)],
  ['a zip archive', gzipSync('PK\x03\x04')],
  ['a SQLite database', 'SQLite format 3\0'],
  ['text in UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x7b, 0, 0, 0])],
  ['no text', Buffer.from([1, 2, 0, 3])],
])('refuses %s by name before the first event, with what to do', async (name, content) => {
  for (const size of [1, 65_536]) {
    const { texts, error } = await read(content, size)
    expect(texts).toEqual([])
    expect(error).toBeInstanceOf(UsageError)
    expect((error as Error).message).toMatch(new RegExp(`^events\\.txt is ${name}.*Nothing was stored: \\w`))
  }
})

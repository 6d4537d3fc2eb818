import { Buffer } from 'node:buffer'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { encodingOf } from '../command/read-text.ts'
import { UsageError } from '../command/usage-error.ts'
import {
  type EventText,
  LineSplitter,
  SEPARATOR,
  type Splitter,
  UnreadableRest,
  ValueSplitter,
} from './split-events.ts'

/** Bytes in which a file tells what it is. */
const HEAD_BYTES = 512
/** Longest beginning that is read to tell lines from values that take several. */
const LONGEST_BEGINNING = 1_048_576

/** First bytes of what cannot be read, its name, and the program that turns it into text. */
const REFUSED: readonly (readonly [magic: string, name: string, program: string])[] = [
  ['\x28\xb5\x2f\xfd', 'compressed with Zstandard', 'zstd -dc'],
  ['PK\x03\x04', 'a zip archive', 'unzip -p'],
  ['PK\x05\x06', 'an empty zip archive', 'unzip -p'],
  ['BZh', 'compressed with bzip2', 'bzip2 -dc'],
  ['\xfd7zXZ\x00', 'compressed with xz', 'xz -dc'],
  ['\x04\x22\x4d\x18', 'compressed with lz4', 'lz4 -dc'],
  ['7z\xbc\xaf\x27\x1c', 'a 7z archive', '7z x -so'],
  ['\x1f\x8b', 'compressed with gzip twice', 'gunzip -c'],
  ['SQLite format 3\x00', 'a SQLite database', ''],
  ['PAR1', 'a Parquet file', ''],
  ['Obj\x01', 'an Avro file', ''],
  ['%PDF', 'a PDF', ''],
  ['\xff\xfe\x00\x00', 'text in UTF-32', 'iconv -f UTF-32 -t UTF-8'],
  ['\x00\x00\xfe\xff', 'text in UTF-32', 'iconv -f UTF-32 -t UTF-8'],
]
const TAR_AT = 257

/**
 * Returns the exact text of each event of a file: JSON lines, an array, values one after another in any layout, or RFC 7464, in
 * UTF-8 or UTF-16, compressed with gzip or not. Throws `UsageError` before the first event for what is none of these, and
 * `UnreadableRest` where a file breaks off.
 */
export async function* eventsIn(chunks: AsyncIterable<Uint8Array>, file: string): AsyncIterable<EventText> {
  const plain = await decompressed(chunks)
  refuseBinary(plain.head, file)
  yield* split(latin1(plain.all, plain.head), file)
}

async function decompressed(chunks: AsyncIterable<Uint8Array>): Promise<Peeked> {
  try {
    const source = await withHead(chunks)
    return isGzip(source.head) ? await withHead(gunzip(source.all)) : source
  } catch (cause) {
    throw broken(1, cause)
  }
}

/** The disk, the decompression or the encoding has failed. */
function broken(line: number, cause: unknown): UnreadableRest {
  return new UnreadableRest(line, `it cannot be read further: ${(cause as Error).message}`)
}

interface Peeked {
  /** The first bytes, each as a character. */
  readonly head: string
  readonly all: AsyncIterable<Uint8Array>
}

async function withHead(chunks: AsyncIterable<Uint8Array>): Promise<Peeked> {
  const rest = chunks[Symbol.asyncIterator]()
  const first: Uint8Array[] = []
  let length = 0
  while (length < HEAD_BYTES) {
    const { done, value } = await rest.next()
    if (done) break
    first.push(value)
    length += value.length
  }
  const begin = Buffer.concat(first)
  async function* all(): AsyncIterable<Uint8Array> {
    yield begin
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
  }
  return { head: begin.toString('latin1', 0, HEAD_BYTES), all: all() }
}

function isGzip(head: string): boolean {
  return head.startsWith('\x1f\x8b')
}

/** Decompresses all members of a file. An error of the source reaches the reader as well. */
function gunzip(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const source = Readable.from(chunks)
  const decompressed = createGunzip()
  source.on('error', cause => decompressed.destroy(cause))
  return source.pipe(decompressed)
}

function refuseBinary(head: string, file: string): void {
  const [, name, program] = REFUSED.find(([magic]) => head.startsWith(magic)) ?? []
  const isTar = head.startsWith('ustar', TAR_AT)
  if (isTar) refuse(file, 'a tar archive', 'tar -xOf')
  if (name !== undefined) refuse(file, name, program)
  const encoding = encodingOf(Buffer.from(head, 'latin1'))
  if (encoding === 'utf-8' && head.includes('\x00')) refuse(file, 'no text')
}

function refuse(file: string, what: string, program = ''): never {
  const fix =
    program === ''
      ? 'export one JSON object a line, or one array of them, in UTF-8'
      : `pipe its text in: ${program} ${file} | npx ackhook inbox ingest -`
  throw new UsageError(`${file} is ${what}. Nothing was stored: ${fix}`)
}

/** Returns the text as the bytes of UTF-8, each as a character: JSON's own characters are single bytes there. */
async function* latin1(chunks: AsyncIterable<Uint8Array>, head: string): AsyncIterable<string> {
  const encoding = encodingOf(Buffer.from(head, 'latin1'))
  const decoder = encoding === 'utf-8' ? undefined : new TextDecoder(encoding, { fatal: true })
  let isFirst = true
  const bytesOf = (text: string) => Buffer.from(text).toString('latin1')
  for await (const chunk of chunks) {
    const text =
      decoder === undefined
        ? Buffer.from(chunk).toString('latin1')
        : bytesOf(decoder.decode(chunk, { stream: true }))
    yield isFirst ? text.replace(/^\xef\xbb\xbf/, '') : text
    isFirst = false
  }
  if (decoder !== undefined) yield bytesOf(decoder.decode())
}

async function* split(texts: AsyncIterable<string>, file: string): AsyncIterable<EventText> {
  let beginning = ''
  let splitter: Splitter | undefined
  try {
    for await (const text of texts) {
      if (splitter === undefined) {
        beginning += text
        splitter = splitterFor(beginning, false, file)
        if (splitter !== undefined) yield* splitter.feed(beginning)
      } else yield* splitter.feed(text)
    }
  } catch (cause) {
    if (cause instanceof UsageError || cause instanceof UnreadableRest) throw cause
    throw broken(splitter?.line ?? 1, cause)
  }
  if (splitter === undefined) {
    splitter = splitterFor(beginning, true, file) ?? new LineSplitter()
    yield* splitter.feed(beginning)
  }
  yield* splitter.end()
}

/** Chooses by the beginning; `undefined` as long as it is too short. Throws `UsageError` for what is no JSON. */
function splitterFor(beginning: string, isWhole: boolean, file: string): Splitter | undefined {
  const start = beginning.trimStart()
  if (start.startsWith('[') || start.startsWith(SEPARATOR)) return new ValueSplitter()
  const isEnough = isWhole || beginning.length >= LONGEST_BEGINNING
  const lines = start.split(/[\r\n]+/)
  // The last one may go on.
  const [first = '', second = ''] = (isEnough ? lines : lines.slice(0, -1)).filter(line => line.trim() !== '')
  if (isJson(first)) return new LineSplitter()
  if (second === '' && !isEnough) return undefined
  if (second.startsWith('{') && isJson(second)) {
    // The second line of a file whose first one is bad, or a part of a value.
    if (!start.startsWith('{')) return new LineSplitter()
    const [value] = new ValueSplitter().feed(start)
    if (value !== undefined && isJson(Buffer.from(value.bytes).toString('latin1'))) return new ValueSplitter()
    return isEnough ? new LineSplitter() : undefined
  }
  if (start.startsWith('{')) return new ValueSplitter()
  if (start !== '') refuse(file, `${nameOf(first)} and not JSON`)
  return undefined
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function nameOf(line: string): string {
  if (line.startsWith('<')) return 'XML or HTML'
  if (/^(data|event|retry): ?/.test(line)) return 'a stream of server-sent events'
  if (/^(---|- |[\w-]+: |[\w-]+:$)/.test(line)) return 'YAML'
  return /[,;\t]/.test(line) ? 'CSV' : 'text'
}

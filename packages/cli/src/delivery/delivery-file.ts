import { Buffer } from 'node:buffer'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { EnvelopeFields } from '@ackhook/core'
import { readText, readTextFile, STANDARD_INPUT, type TextPlace } from '../command/read-text.ts'
import { UsageError } from '../command/usage-error.ts'
import { type CapturedRequest, eventOf } from './captured-request.ts'

/** A captured request as JSON, written by `listen --save` and read by `replay` and `verify`. */
export interface DeliveryFile {
  readonly format: typeof FORMAT
  /** ISO 8601 UTC. */
  readonly receivedAt: string
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Base64 of the exact bytes. */
  readonly body: string
}

const FORMAT = 'ackhook-delivery-1'
/** Format of what `recordDeliveries` of `@ackhook/contract` writes: the event without its signature. */
const RECORDING = 'ackhook-recording-1'

/** Converts a request to a delivery file's content. */
export function toDeliveryFile(delivery: CapturedRequest): DeliveryFile {
  const { method, url, headers, body, receivedAt } = delivery
  return {
    format: FORMAT,
    receivedAt: new Date(receivedAt).toISOString(),
    method,
    url,
    headers,
    body: Buffer.from(body).toString('base64'),
  }
}

/** Parses a delivery file's content. Errors say what is wrong with it. `headers` may also be an object, for hand-written files. */
export function fromDeliveryFile(value: unknown): CapturedRequest {
  if (typeof value !== 'object' || value === null) fail('it is not a JSON object')
  const file = value as Partial<Record<keyof DeliveryFile | 'event', unknown>>
  if (file.format === RECORDING) return fromRecording(file)
  if (file.format !== undefined && file.format !== FORMAT) fail(`'format' is not '${FORMAT}'`)
  const receivedAt = timeOf(file)
  if (typeof file.body !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(file.body.replace(/\s+/g, ''))) {
    fail("'body' is not base64")
  }
  return {
    method: typeof file.method === 'string' ? file.method : 'POST',
    url: typeof file.url === 'string' ? file.url : '/',
    headers: headersOf(file.headers),
    body: new Uint8Array(Buffer.from(file.body as string, 'base64')),
    receivedAt,
  }
}

function fromRecording(file: Partial<Record<keyof DeliveryFile | 'event', unknown>>): CapturedRequest {
  if (typeof file.event !== 'object' || file.event === null) fail("'event' is not an object")
  const body = new TextEncoder().encode(JSON.stringify(file.event))
  return {
    method: 'POST',
    url: '/',
    headers: [['content-type', 'application/json']],
    body,
    receivedAt: timeOf(file),
  }
}

function timeOf({ receivedAt }: Partial<Record<keyof DeliveryFile, unknown>>): number {
  const time = typeof receivedAt === 'string' ? Date.parse(receivedAt) : Number.NaN
  if (Number.isNaN(time)) fail("'receivedAt' is not a time such as '2026-03-01T12:00:00.000Z'")
  return time
}

function headersOf(headers: unknown): (readonly [string, string])[] {
  const pairs: unknown[] = Array.isArray(headers) ? headers : Object.entries(headers ?? {})
  return pairs.map(pair => {
    const isPair = Array.isArray(pair) && typeof pair[0] === 'string' && typeof pair[1] === 'string'
    if (!isPair) fail("'headers' is not a list of [name, value] pairs")
    return [pair[0], pair[1]]
  })
}

function fail(reason: string): never {
  throw new UsageError(
    `this is not a saved delivery: ${reason}. Save one with: npx ackhook listen --save <directory>`,
  )
}

/** Reads a saved delivery. Errors name the file and say what is wrong with it. */
export function readDelivery(path: string): CapturedRequest {
  try {
    return parseDelivery(readTextFile(path, 'this'))
  } catch (cause) {
    throw new UsageError(`${path}: ${(cause as Error).message}`, { cause })
  }
}

function parseDelivery(text: string): CapturedRequest {
  try {
    return fromDeliveryFile(JSON.parse(text))
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    throw new UsageError('this is not a saved delivery: it is not JSON', { cause })
  }
}

interface ReadDelivery {
  /** Absolute path. */
  readonly file: string
  readonly delivery: CapturedRequest
}

/**
 * Reads a saved delivery, those of a directory in the order of their names, or one from standard input for `-`. `unverified`:
 * also those of the directory that anyone may have sent.
 */
export async function readDeliveries(
  path: string,
  place: TextPlace,
  { unverified = false }: { readonly unverified?: boolean } = {},
): Promise<readonly ReadDelivery[]> {
  if (path !== STANDARD_INPUT)
    return deliveryFiles(path, place.cwd, unverified).map(file => ({ file, delivery: readDelivery(file) }))
  const text = await readText(path, place)
  try {
    return [{ file: resolve(place.cwd, path), delivery: parseDelivery(text) }]
  } catch (cause) {
    throw new UsageError(`standard input: ${(cause as Error).message}`, { cause })
  }
}

/** Returns the file itself, or the `.json` files of a directory in name order. */
function deliveryFiles(path: string, cwd: string, unverified: boolean): readonly string[] {
  const full = resolve(cwd, path)
  const stat = statSync(full, { throwIfNoEntry: false })
  if (stat === undefined) throw new UsageError(`there is no file or directory ${path}`)
  if (!stat.isDirectory()) return [full]
  const [files, others] = [jsonFiles(full), jsonFiles(join(full, UNVERIFIED))]
  const found = unverified ? [...files, ...others] : files
  if (found.length > 0) return found.sort((a, b) => (basename(a) < basename(b) ? -1 : 1))
  const elsewhere =
    others.length === 0 ? '' : `; those that were not verified are in ${join(path, UNVERIFIED)}`
  throw new UsageError(`the directory ${path} contains no .json file${elsewhere}`)
}

function jsonFiles(directory: string): string[] {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) return []
  const names = readdirSync(directory).filter(name => name.endsWith('.json'))
  return names.map(name => join(directory, name))
}

const LONGEST_PART = 60
/** Folder of what anyone may have sent: apart from `verify`, a command reads it only if it is named. */
const UNVERIFIED = 'unverified'

/** Most bytes and files of what anyone may have sent: it must not fill a disk. */
const MOST_BYTES = 67_108_864
const MOST_FILES = 10_000

/** A folder of saved deliveries, with a folder in it for those that were not verified. */
export class DeliveryFolder {
  readonly #path: string
  readonly #fields: Partial<EnvelopeFields> | undefined
  #left: { bytes: number; files: number } | undefined

  constructor(path: string, fields?: Partial<EnvelopeFields>) {
    this.#path = path
    this.#fields = fields
  }

  /**
   * Writes a delivery to a new file that only this user can read, named by time, type and id. Returns the path, or `undefined`
   * for an unverified one if there are too many of them already.
   */
  save(delivery: CapturedRequest, isVerified: boolean): string | undefined {
    const text = `${JSON.stringify(toDeliveryFile(delivery), null, 2)}\n`
    const name = nameOf(delivery, this.#fields)
    if (isVerified) return writeNew(this.#path, name, text)
    const folder = join(this.#path, UNVERIFIED)
    this.#left ??= roomIn(folder)
    if (text.length > this.#left.bytes || this.#left.files === 0) return undefined
    this.#left.bytes -= text.length
    this.#left.files--
    return writeNew(folder, name, text)
  }
}

function roomIn(folder: string): { bytes: number; files: number } {
  const sizes = jsonFiles(folder).map(file => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
  return {
    bytes: sizes.reduce((left, size) => left - size, MOST_BYTES),
    files: Math.max(0, MOST_FILES - sizes.length),
  }
}

function writeNew(directory: string, name: string, text: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  for (let count = 1; ; count++) {
    const path = join(directory, `${name}${count === 1 ? '' : `-${count}`}.json`)
    try {
      writeFileSync(path, text, { flag: 'wx', mode: 0o600 })
      return path
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

function nameOf({ body, receivedAt }: CapturedRequest, fields?: Partial<EnvelopeFields>): string {
  const { type, id } = eventOf(body, fields)
  const time = new Date(receivedAt).toISOString().replaceAll(':', '-')
  return [time, safe(type ?? 'unknown'), safe(id ?? 'no-id')].join('_')
}

/** Types and ids are untrusted: no path, no endless name, nothing that Windows refuses. The time before them keeps its device names out. */
function safe(text: string): string {
  return text.replace(/[^A-Za-z0-9._-]/g, '-').slice(0, LONGEST_PART)
}

import { ConfigurationError, type Contract, type HeaderSource, type MaybePromise } from '@ackhook/core'
import {
  describeError,
  type InspectedReceiver,
  inspectReceiver,
  onceAMinute,
  refuseGenerator,
  refuseUnknownNames,
  type TappedDelivery,
  wholeNumber,
} from '@ackhook/core/spi'
import { Keep } from '../shape/keep.ts'
import { type KeyOf, knownNames, nameLike } from '../shape/names.ts'
import { DEEPEST, Room } from '../shape/room.ts'
import { Shape } from '../shape/shape.ts'
import { shapeHash } from '../shape/shape-hash.ts'
import { mask, type Redact, redactAll } from './mask.ts'
import { PUBLISHED, RECORDING, type Recording } from './recording.ts'
import { describeSignature } from './signature.ts'

/**
 * Writes one recorded delivery. The name is a file's, and is the same for the same type, shape and number: write over what
 * has it. A rejection is logged, and the delivery is not recorded.
 */
export type WriteRecording = (name: string, text: string) => MaybePromise<unknown>

/** Options of {@link recordDeliveries}. */
export interface RecordOptions {
  /** Where recordings go: `toFolder('recorded')` of `@ackhook/contract/node`, or a function. */
  readonly write: WriteRecording
  /**
   * Maximum number of ordinary deliveries of each type: the 1st, 2nd, 4th, 8th and so on. A delivery of a new shape is always
   * kept. Default 20.
   */
  readonly sample?: number | undefined
  /** Paths of values to record as they are, such as `'data.channel'`. Others are masked. Default: none. */
  readonly keep?: readonly string[] | undefined
  /**
   * Names of fields to record as they are, such as `'loyalty_tier'`. Other keys are recorded if they are published, in `keep`, or
   * made of common words of such names; the rest are masked, since a key may be a customer's name. Default: none.
   */
  readonly names?: readonly string[] | undefined
  /**
   * Replaces the default mask: returns what is recorded for a value that `keep` does not name. `false` records everything as it
   * arrives, with your customers' data.
   */
  readonly redact?: Redact | false | undefined
  /** Maximum bytes of all recordings that this process writes. Beyond it nothing is recorded. Default 10 MiB. */
  readonly maxBytes?: number | undefined
}

/** Recording that runs until it is closed. */
export interface Recorder {
  /** Ends the recording, and resolves once what was recorded is written. Never rejects. */
  close(): Promise<void>
}

/**
 * Records a small sample of genuine deliveries, also of those that are refused after their signature was verified: each new
 * shape of each type, and a known shape rarely. Values are masked, and neither the secret nor the signature is recorded. A
 * failed write is logged, and changes no delivery. Throws `ConfigurationError` for a wrong option.
 *
 * @example
 * recordDeliveries(hooks, { write: toFolder('recorded'), keep: ['data.channel'] })
 */
export function recordDeliveries(receiver: object, options: RecordOptions): Recorder {
  const recording = new DeliveryRecorder(inspectReceiver(receiver), resolve(options))
  return { close: () => recording.close() }
}

interface Resolved {
  readonly write: WriteRecording
  readonly sample: number
  readonly keep: readonly string[]
  readonly names: readonly string[]
  readonly redact: Redact | false
  readonly maxBytes: number
}

const NAMES = ['write', 'sample', 'keep', 'names', 'redact', 'maxBytes'] satisfies (keyof RecordOptions)[]
/** Most types that are told apart: a sender has far fewer. */
const MOST_TYPES = 1000

function resolve(options: RecordOptions): Resolved {
  refuseUnknownNames(options, NAMES, '', "{ write: toFolder('recorded') }")
  const { write, sample = 20, keep = [], names = [], redact = mask, maxBytes = 10_485_760 } = options
  refuseGenerator('write', write)
  if (typeof write !== 'function')
    throw new ConfigurationError(
      'write',
      "must be a function: write toFolder('recorded'), or (name, text) => …",
    )
  if (!isListOfTexts(keep))
    throw new ConfigurationError('keep', "must be a list of paths, such as ['data.channel']")
  if (!isListOfTexts(names))
    throw new ConfigurationError('names', "must be a list of names, such as ['loyalty_tier']")
  if (redact !== false && typeof redact !== 'function')
    throw new ConfigurationError('redact', 'must be a function (value, path) => …, or false')
  return {
    write,
    keep,
    names,
    redact,
    sample: wholeNumber('sample', sample, 1, 1_000_000),
    maxBytes: wholeNumber('maxBytes', maxBytes, 1, Number.MAX_SAFE_INTEGER, 'bytes'),
  }
}

function isListOfTexts(list: readonly string[]): boolean {
  return Array.isArray(list) && list.every(text => typeof text === 'string')
}

/** What is known of one type. */
interface KnownType {
  readonly shape: Shape
  /** Number of recordings of each exact shape. */
  readonly written: Map<string, number>
  count: number
  /** Count of the next ordinary delivery to keep. */
  next: number
  left: number
}

class DeliveryRecorder {
  readonly #options: Resolved
  readonly #contract: Contract
  readonly #receiver: InspectedReceiver
  readonly #keep: Keep
  readonly #keyOf: KeyOf
  /** Of the shapes of all types. */
  readonly #room = new Room()
  readonly #types = new Map<string, KnownType>()
  readonly #writing = new Set<Promise<void>>()
  readonly #stop: () => void
  readonly #failed: (reason: string, err: unknown) => void
  #bytes = 0

  constructor(receiver: InspectedReceiver, options: Resolved) {
    this.#receiver = receiver
    this.#options = options
    this.#contract = receiver.contract
    const { id, type, created_at, data } = this.#contract.fields
    this.#keep = new Keep(options.redact === false ? 'all' : [id, type, created_at, ...options.keep])
    const inPaths = options.keep.flatMap(path => path.split(/[.[\]]+/))
    this.#keyOf =
      options.redact === false
        ? nameLike
        : knownNames([id, type, created_at, data, ...inPaths, ...options.names].filter(name => name !== '*'))
    this.#failed = onceAMinute((err, more) =>
      receiver.logger.warn(
        { code: 'recording_failed', err },
        `A delivery could not be recorded${more}: ${describeError(err)}. The delivery itself is not affected.`,
      ),
    )
    this.#stop = receiver.tapDeliveries(delivery => this.#arrived(delivery))
  }

  async close(): Promise<void> {
    this.#stop()
    await Promise.all(this.#writing)
  }

  /** Allocates nothing for a delivery that is not recorded. */
  #arrived(delivery: TappedDelivery): void {
    const { value, type } = delivery
    const known = this.#types.get(type) ?? this.#first(type)
    if (known === undefined) return
    known.count++
    if (known.shape.accepts(value)) {
      if (known.count < known.next || known.left === 0) return
      known.left--
    }
    while (known.next <= known.count) known.next *= 2
    this.#record(known, delivery)
  }

  #first(type: string): KnownType | undefined {
    if (this.#types.size === MOST_TYPES) return undefined
    const known = {
      shape: new Shape(),
      written: new Map(),
      count: 0,
      next: 2,
      left: this.#options.sample - 1,
    }
    this.#types.set(type, known)
    return known
  }

  #record({ shape, written }: KnownType, { value: event, headers, type }: TappedDelivery): void {
    shape.learn(event, { keyOf: this.#keyOf, room: this.#room, keep: this.#keep })
    const hash = shapeHash(event, this.#keyOf)
    const number = (written.get(hash) ?? 0) + 1
    written.set(hash, number)
    // Indentation would multiply a deep event by its depth.
    const indent = isDeeper(event, DEEPEST) ? 0 : 2
    const text = `${JSON.stringify(this.#recordingOf(event, headers), null, indent)}\n`
    this.#bytes += text.length
    if (this.#bytes > this.#options.maxBytes) this.#end()
    else this.#write(`${fileNameOf(type)}_${hash}_${number}.json`, text)
  }

  #recordingOf(event: unknown, headers: HeaderSource): Recording {
    const { keep, redact } = this.#options
    const { fields } = this.#contract
    const own = Object.entries(fields).filter(([field, name]) => field !== name)
    const signature = describeSignature(headers, this.#contract)
    const redacted =
      redact === false ? event : redactAll(event, { redact, keyOf: this.#keyOf, keep: this.#keep })
    return {
      format: RECORDING,
      receivedAt: new Date().toISOString(),
      ...(signature !== undefined && { signature }),
      ...(own.length > 0 && { fields: { ...PUBLISHED, ...Object.fromEntries(own) } }),
      kept: redact === false ? 'all' : keep,
      event: redacted,
    }
  }

  #write(name: string, text: string): void {
    const writing = (async () => this.#options.write(name, text))()
      .then(() => {})
      .catch(err => this.#failed('write', err))
      .finally(() => this.#writing.delete(writing))
    this.#writing.add(writing)
  }

  #end(): void {
    this.#stop()
    this.#receiver.logger.info(
      { code: 'recording_full' },
      `Recordings have reached maxBytes (${this.#options.maxBytes}): nothing more is recorded by this process.`,
    )
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some(one => isDeeper(one, levels - 1))
}

/** Names of devices, which Windows refuses for files with any ending. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/

/**
 * A type is the sender's text: no path, no hidden file, no endless name, none that Windows refuses, and not the name of another
 * type where the case of letters does not count.
 */
function fileNameOf(type: string): string {
  if (type === '') return 'no-type'
  if (/^[a-z0-9][a-z0-9.-]{0,59}$/.test(type) && type !== 'no-type' && !DEVICE.test(type)) return type
  const shown = type
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, '-')
    .replace(/^\.+/, '')
    .slice(0, 40)
  return `type-${shown}-${hashOf(type)}`
}

function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}

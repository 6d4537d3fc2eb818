import { ConfigurationError, type HeaderSource } from '@ackhook/core'
import {
  headerOf,
  type InspectedReceiver,
  inspectReceiver,
  refuseUnknownNames,
  type TappedDelivery,
  wholeNumber,
} from '@ackhook/core/spi'
import type { ObservedContract } from '../record/observed-contract.ts'
import { PUBLISHED } from '../record/recording.ts'
import { Keep, NOTHING_KEPT } from '../shape/keep.ts'
import { type KeyOf, knownNames } from '../shape/names.ts'
import { Room } from '../shape/room.ts'
import { Shape } from '../shape/shape.ts'
import { compareShapes } from './compare-shapes.ts'
import { contractOf, type Known, movedUnit, newType } from './drift-of.ts'
import type { Finding } from './finding.ts'

/** Options of {@link watchDrift}. */
export interface DriftOptions {
  /** What is known: `readRecordings('recorded')`, imported recordings, or the schemas of the option `events`. */
  readonly known: Known
  /** Maximum number of findings; after them the watch ends. Default 100. */
  readonly most?: number | undefined
}

/** Watch that runs until it is closed. */
export interface DriftWatch {
  /** All findings so far. */
  readonly findings: readonly Finding[]
  close(): void
}

/**
 * Compares each genuine delivery with what is known, whatever else is wrong with it. Each difference is reported once: as a
 * warning and as a notice `contract_drift`, with the option that absorbs it and without any value of the payload, and a
 * key that is neither known nor made of common words is `*`, since it may be a customer's name. Throws
 * `ConfigurationError` for a wrong option.
 *
 * @example
 * watchDrift(hooks, { known: readRecordings('recorded') })
 */
export function watchDrift(receiver: object, options: DriftOptions): DriftWatch {
  refuseUnknownNames(options, ['known', 'most'], '', "{ known: readRecordings('recorded') }")
  const { known, most = 100 } = options
  if (typeof known !== 'object' || known === null)
    throw new ConfigurationError(
      'known',
      "must be recordings, such as readRecordings('recorded'), or schemas",
    )
  const watch = new Watch(inspectReceiver(receiver), contractOf(known), wholeNumber('most', most, 1, 10_000))
  return { findings: watch.findings, close: () => watch.close() }
}

/** Length of `t` in the header, by its unit. */
const UNITS = new Map([
  [10, 'seconds'],
  [13, 'milliseconds'],
])

class Watch {
  readonly findings: Finding[] = []
  readonly #receiver: InspectedReceiver
  readonly #most: number
  readonly #types: Map<string, Shape>
  readonly #units: Set<string>
  readonly #isPublished: boolean
  readonly #keyOf: KeyOf
  /** Of all shapes that the watch keeps. */
  readonly #room = new Room()
  readonly close: () => void

  constructor(receiver: InspectedReceiver, { types, signatures }: ObservedContract, most: number) {
    this.#receiver = receiver
    this.#most = most
    this.#types = new Map(types)
    for (const shape of types.values()) keepClosed(shape)
    this.#keyOf = knownNames(namesIn(types))
    this.#units = new Set(signatures.map(one => one.timestampUnit))
    this.#isPublished = Object.entries(receiver.contract.fields).every(([field, name]) => field === name)
    this.close = receiver.tapDeliveries(delivery => this.#arrived(delivery))
  }

  /** Allocates nothing for a delivery that is as known. */
  #arrived({ value, type, headers }: TappedDelivery): void {
    const event = this.#isPublished ? value : this.#renamed(value)
    const known = this.#types.get(type)
    if (known === undefined) this.#learnType(type, event)
    else if (!known.accepts(event)) this.#compare(known, { type, event })
    if (this.#units.size > 0) this.#checkUnit(headers)
  }

  #renamed(event: unknown): unknown {
    const { fields } = this.#receiver.contract
    const names = new Map(Object.keys(PUBLISHED).map(field => [fields[field as keyof typeof fields], field]))
    return Object.fromEntries(
      Object.entries(Object(event)).map(([name, value]) => [names.get(name) ?? name, value]),
    )
  }

  #learnType(type: string, event: unknown): void {
    const shape = new Shape()
    shape.learn(event, { keyOf: this.#keyOf, room: this.#room, keep: NOTHING_KEPT })
    this.#types.set(type, shape)
    this.#report([newType(type)])
  }

  #compare(known: Shape, { type, event }: { readonly type: string; readonly event: unknown }): void {
    const observed = new Shape()
    const keep = new Keep('all')
    observed.learn(event, { keyOf: this.#keyOf, room: new Room(), keep })
    this.#report(compareShapes(known, observed, { type, path: '' }))
    // What was reported is known from now on.
    known.learn(event, { keyOf: this.#keyOf, room: this.#room, keep })
  }

  #checkUnit(headers: HeaderSource): void {
    const text = headerOf(headers, this.#receiver.contract.header) ?? ''
    const start = text.indexOf('t=') + 2
    const unit = UNITS.get(text.indexOf(',', start) - start) ?? 'iso8601'
    if (this.#units.has(unit)) return
    this.#units.add(unit)
    this.#report([movedUnit(unit)])
  }

  #report(findings: Iterable<Finding>): void {
    const { logger, observe } = this.#receiver
    for (const { values: _, ...finding } of findings) {
      const { kind, type, path, text, fix } = finding
      this.findings.push(finding)
      const message = `${type ? `${type}: ` : ''}${text}. ${fix}`
      logger.warn({ code: 'contract_drift', kind, type, path }, message)
      observe({ kind: 'notice', code: 'contract_drift', message })
      if (this.findings.length === this.#most) break
    }
    if (this.findings.length < this.#most) return
    this.close()
    logger.warn(
      { code: 'contract_drift_ended' },
      `${this.#most} differences were found: further ones are not reported. Record deliveries again.`,
    )
  }
}

/** Names of fields in what is known: they may be read, as the known recordings and schemas may. */
function namesIn(types: ReadonlyMap<string, Shape>): Iterable<string> {
  const names = new Set<string>()
  const collect = ({ fields, items }: Shape): void => {
    for (const [name, field] of fields) {
      names.add(name)
      collect(field)
    }
    if (items !== undefined) collect(items)
  }
  for (const shape of types.values()) collect(shape)
  return names
}

/** A value that was reported must not open its set. */
function keepClosed(shape: Shape): void {
  shape.staysClosed = shape.isClosed
  for (const field of shape.fields.values()) keepClosed(field)
  if (shape.items !== undefined) keepClosed(shape.items)
}

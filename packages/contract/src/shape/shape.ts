import type { Keep } from './keep.ts'
import { allows, KIND, kindOf } from './kinds.ts'
import { ANY_KEY, type KeyOf } from './names.ts'
import { DEEPEST, type Room } from './room.ts'

/** Fewest values that make a set of them look complete. */
const ENOUGH_VALUES = 10
/** Most values of a set: a field with more is free text, or an id. */
const MOST_VALUES = 12
/** How often each value of a set comes, on average. */
const OFTEN = 3
/** A word that a program writes: no number, no address, no sentence. */
const WORD = /^[A-Za-z][A-Za-z_.:/-]{0,39}$/

/** How a shape learns from a value. */
export interface Learning {
  readonly keyOf: KeyOf
  readonly room: Room
  /** Fields whose values may be remembered. */
  readonly keep: Keep
}

/**
 * What the values of one field have been: their kinds, the fields of objects, the items of arrays, and the values of small
 * sets. Learned from values, or declared by a schema.
 */
export class Shape {
  /** Bits of `KIND`. */
  kinds = 0
  /** Number of values. */
  seen = 0
  /** Number of those that were objects. */
  objects = 0
  readonly fields: Map<string, Shape> = new Map()
  items: Shape | undefined
  /** Values of strings, with their counts. `undefined`: too many, or not to be remembered. */
  values: Map<string, number> | undefined = new Map()
  /** Whether `values` looks complete, or is declared to be. */
  isClosed = false
  /** Whether a further value leaves the set closed, as a declared one is. */
  staysClosed = false
  /** Whether a schema allows any value. */
  isAny = false
  #required = 0

  /** Returns whether a value is no news. Allocates nothing. */
  accepts(value: unknown): boolean {
    if (this.isAny) return true
    const kind = kindOf(value)
    if (!allows(this.kinds, kind)) return false
    if (kind === KIND.object) return this.#acceptsFields(value as Readonly<Record<string, unknown>>)
    if (kind === KIND.array) return this.#acceptsItems(value as readonly unknown[])
    return !this.isClosed || kind !== KIND.string || this.values?.has(value as string) === true
  }

  #acceptsFields(value: Readonly<Record<string, unknown>>): boolean {
    let required = 0
    // Unlike Object.keys, it makes no list.
    for (const name in value) {
      const own = this.fields.get(name)
      const field = own ?? this.fields.get(ANY_KEY)
      if (field === undefined || !field.accepts(value[name])) return false
      if (own !== undefined && own.seen >= this.objects) required++
    }
    return required >= this.#required
  }

  #acceptsItems(items: readonly unknown[]): boolean {
    for (let at = 0; at < items.length; at++) if (this.items?.accepts(items[at]) !== true) return false
    return true
  }

  /** Reads each key and value once, whatever their depth. */
  learn(value: unknown, { keyOf, room, keep }: Learning, depth = 0): void {
    const kind = kindOf(value)
    this.kinds |= kind
    this.seen++
    if (kind === KIND.string) this.#learnText(value as string, keep.isKept)
    if (kind !== KIND.object && kind !== KIND.array) return
    if (depth === DEEPEST) {
      this.isAny = true
      return
    }
    if (kind === KIND.object) this.#learnFields(value as object, { keyOf, room, keep }, depth + 1)
    if (kind !== KIND.array) return
    const inside = { keyOf, room, keep: keep.at('[]') }
    for (const item of value as readonly unknown[]) this.itemsOf().learn(item, inside, depth + 1)
  }

  #learnFields(value: object, { keyOf, room, keep }: Learning, depth: number): void {
    this.objects++
    const names = new Set<string>()
    for (const [name, one] of Object.entries(value)) {
      const key = this.#room(keyOf(name), room)
      const field = this.fieldOf(key)
      if (!field.isAny) field.learn(one, { keyOf, room, keep: keep.at(key) }, depth)
      // Several keys of data count as one.
      if (names.has(key)) field.seen--
      names.add(key)
    }
    // Counting all fields would cost each object of a list what the widest one has.
    this.#required = 0
    for (const name of names) if (this.isRequired(name)) this.#required++
  }

  #learnText(text: string, isKept: boolean): void {
    if (!isKept || !WORD.test(text)) this.values = undefined
    this.values?.set(text, (this.values.get(text) ?? 0) + 1)
    if (this.values === undefined || this.values.size > MOST_VALUES) {
      this.values = undefined
      this.isClosed = false
      return
    }
    const count = [...this.values.values()].reduce((sum, one) => sum + one, 0)
    this.isClosed = this.staysClosed || (count >= ENOUGH_VALUES && this.values.size * OFTEN <= count)
  }

  /** Returns the field to learn. Without room, all further ones are one that allows anything. */
  #room(key: string, room: Room): string {
    if (this.fields.has(key) || room.take()) return key
    this.fieldOf(ANY_KEY).isAny = true
    return ANY_KEY
  }

  fieldOf(name: string): Shape {
    const known = this.fields.get(name) ?? new Shape()
    this.fields.set(name, known)
    return known
  }

  itemsOf(): Shape {
    this.items ??= new Shape()
    return this.items
  }

  /** Counts the required fields again, after fields were declared. */
  settle(): void {
    this.#required = [...this.fields.keys()].filter(name => this.isRequired(name)).length
  }

  isRequired(name: string): boolean {
    const field = this.fields.get(name)
    return field !== undefined && name !== ANY_KEY && field.seen >= this.objects
  }
}

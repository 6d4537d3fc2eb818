import type { Facts } from './facts.ts'

/** A cause and its fix. */
export interface Finding {
  /** Stable name, for scripts. */
  readonly cause: string
  /** `true` if the digest, or the request itself, proves it. Otherwise the evidence only suggests it. */
  readonly proven: boolean
  /** Cause and fix, in words for a newcomer. Never holds a secret. */
  readonly text: string
}

/** Looks for one cause in the facts of a request. Pure. */
export type Check = (facts: Facts) => Finding | undefined

/** An assumption that can be proved: with these changes, the signature must match. */
export interface Guess {
  readonly cause: string
  readonly text: string
  /** The bytes that may have been signed instead. */
  readonly body?: Uint8Array
  /** The key that may have been used instead. */
  readonly key?: string | Uint8Array
  /** Text that may have been signed before the body, instead of `<t>.`. */
  readonly prefix?: string
}

/** Assumes one kind of mishap, in every known form. Pure. */
export type Suppose = (facts: Facts) => readonly Guess[]

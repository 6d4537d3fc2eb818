import { letterGroup } from './letter-group.ts'

/** Begins a sealed body. No JSON begins with NUL. */
const MARK: readonly number[] = [0, 0x61, 0x63, 0x6b, 0x73, 1]
/** A sealed error: the letters stand for the group of the error, the quoted text is base64. */
const REASON = /^Sealed: ([g-v]{14})(?: "([\w+/=]*)")?$/
/** Sealed bytes whose base64 has fewer than 2,000 characters: quoted text of that length does not count for a group. */
const MAX_SEALED = 1490
/** Bytes of an error's text that are sealed. What a cipher and base64 add must fit as well. */
const MAX_REASON_BYTES = 1200
const HEX = '0123456789abcdef'
const LETTERS = 'ghijklmnopqrstuv'

/** Returns whether an inbox stored this body, or this error, sealed. */
export function isSealed({
  body,
  reason,
}: {
  readonly body?: Uint8Array
  readonly reason?: string
}): boolean {
  return (body !== undefined && isSealedBody(body)) || (reason !== undefined && REASON.test(reason))
}

export function isSealedBody(body: Uint8Array): boolean {
  return MARK.every((byte, i) => body[i] === byte)
}

/** Returns sealed bytes as an inbox stores them. */
export function markSealed(sealed: Uint8Array): Uint8Array {
  const body = new Uint8Array(MARK.length + sealed.length)
  body.set(MARK)
  body.set(sealed, MARK.length)
  return body
}

/** Returns the bytes for `open`. */
export function sealedPart(body: Uint8Array): Uint8Array {
  return body.subarray(MARK.length)
}

/** Returns the beginning of an error's text, for `seal`. */
export function reasonBytes(reason: string): Uint8Array {
  return new TextEncoder().encode(reason).subarray(0, MAX_REASON_BYTES)
}

/**
 * Returns an error in which an inbox finds only the group of an error and, if it fits, its sealed text. Letters of one
 * group have texts of one group again.
 */
export function sealedError(
  letter: { readonly id: string; readonly type: string; readonly reason: string },
  sealed: Uint8Array | undefined,
): Error {
  const group = Array.from(letterGroup(letter), digit => LETTERS[HEX.indexOf(digit)]).join('')
  const isKept = sealed !== undefined && sealed.length <= MAX_SEALED
  const error = new Error(isKept ? `${group} "${base64Of(sealed)}"` : group)
  error.name = 'Sealed'
  // Its own stack says nothing about the event.
  error.stack = ''
  return error
}

/** A sealed error as an inbox has stored it. */
export interface SealedReason {
  /** Group of the error that was sealed. */
  readonly group: string
  /** Absent if the text was too long, or could not be sealed. */
  readonly sealed: Uint8Array | undefined
}

/** `undefined` if the error was not sealed. */
export function parseReason(reason: string): SealedReason | undefined {
  const [, letters, text] = REASON.exec(reason) ?? []
  if (letters === undefined) return undefined
  const group = Array.from(letters, letter => HEX[LETTERS.indexOf(letter)]).join('')
  return { group, sealed: text === undefined ? undefined : bytesOf(text) }
}

function base64Of(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), character => character.charCodeAt(0))
}

/** As a receiver has it. */
const MIN_BYTES = 16

/** What is wrong with a signing secret, never what it is. A receiver would not start with such a one. */
export function secretFault(secret: string): string | undefined {
  if (secret.trim() === '') return 'must not be blank: anyone could sign with it'
  if (Buffer.byteLength(secret) >= MIN_BYTES) return undefined
  return `must be at least ${MIN_BYTES} bytes long: your app refuses a shorter one, which can be guessed`
}

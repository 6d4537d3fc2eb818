/**
 * Every secret that our documentation and examples print, so anyone can sign with it, without the prefix `whsec_`.
 * `test/docs/printed-secrets.test.ts` compares the list with them.
 */
const PRINTED: ReadonlySet<string> = new Set([
  'only-for-trying-it-out',
  'also-only-for-trying-it-out',
  'only-for-this-test',
  'only-for-this-test-0123456789',
  'only-for-these-tests',
  'only-for-tests',
  'only-for-this-demo-0123456789',
  'a-secret-of-at-least-16-bytes',
  'a-secret-someone-guessed',
  'the-signing-secret-of-the-endpoint',
  'another-secret-of-acme',
  'of-your-app',
  'demo_of_fastify_and_sqlite',
])

/** What a receiver answers to a printed secret that does not come from a developer or a test. */
export const PRINTED_FAULT =
  'must be a secret of your own: this one is printed in the documentation, so anyone can sign with it. Take the one that the platform shows for the endpoint, or make one with: openssl rand -hex 24. To try it out in a process without a terminal, set NODE_ENV=development'

let areAccepted = false

/** Lets this process use printed secrets: it is a tool for developers, such as the command line, and no receiver. */
export function acceptPrintedSecrets(): void {
  areAccepted = true
}

/** Returns whether a secret is one that the documentation prints: as printed, quoted, or in hexadecimal or base64. */
export function isPrinted(secret: string): boolean {
  if (areAccepted) return false
  const plain = withoutPadding(secret)
  return [plain, fromHex(plain), fromBase64(plain)].some(text => PRINTED.has(withoutPadding(text)))
}

/** Returns a secret without what a file or a shell added to it, and without the prefix that platforms give secrets. */
function withoutPadding(text: string): string {
  return text
    .trim()
    .replace(/^(["'])(.*)\1$/s, '$2')
    .trim()
    .replace(/^whsec_/, '')
}

function fromHex(text: string): string {
  if (!/^(?:[0-9a-f]{2})+$/i.test(text)) return ''
  return text.replace(/../g, digits => String.fromCharCode(Number.parseInt(digits, 16)))
}

function fromBase64(text: string): string {
  try {
    return atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  } catch {
    return ''
  }
}

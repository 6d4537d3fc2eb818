import { shellWord } from '@ackhook/core/spi'

/** A `POST` that {@link curlOf} repeats. */
export interface PostRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: { readonly text: string; readonly base64: string | null }
}

/** Headers that curl sets itself or that belong to one connection. */
const NOT_REPEATED = ['content-length', 'host', 'connection', 'transfer-encoding']
const SIGNATURE = /^t=([^,]+),([\w-]+)=[0-9a-f]{64}(?:,|$)/i
/** Shell commands for the current time, by the form of the original `t`. */
const NOW: readonly (readonly [RegExp, string])[] = [
  [/^\d{13,}$/, '$(date +%s)000'],
  [/T/, '$(date -u +%Y-%m-%dT%H:%M:%SZ)'],
]
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/
/** Reads the secret from the environment. As an argument of openssl it would show in the process list. */
const HMAC = `require("crypto").createHmac("sha256",process.env.SIGNING_SECRET).update(require("fs").readFileSync(0)).digest("hex")`

/**
 * Shell commands that sign the request anew with the secret in `SIGNING_SECRET` and send it, for sh, bash, dash and zsh.
 * A subshell keeps their variables local. The body goes through standard input, which has no size limit.
 */
export function curlOf({ url, headers, body }: PostRequest): string {
  const kept = Object.entries(headers).filter(([name]) => !NOT_REPEATED.includes(name.toLowerCase()))
  const options = [...kept.map(([name, value]) => headerOf(name, value)), ...contentType(kept)]
    .map(header => ` \\\n    -H ${header}`)
    .join('')
  const signed = kept.map(([, value]) => SIGNATURE.exec(value)?.[1]).find(t => t !== undefined)
  return [
    '(',
    `  body() { ${bodyOf(body)}; }`,
    ...(signed === undefined ? [] : signing(signed)),
    `  body | curl -ig ${shellWord(url)}${options} \\\n    --data-binary @-`,
    ')',
  ].join('\n')
}

/** Name and label of the signature among a request's headers. */
export function signatureOf(
  headers: PostRequest['headers'],
): { readonly header: string; readonly scheme: string } | undefined {
  for (const [header, value] of Object.entries(headers)) {
    const scheme = SIGNATURE.exec(value)?.[2]
    if (scheme !== undefined) return { header, scheme }
  }
  return undefined
}

/** The last request of a delivery is what {@link curlOfDelivery} repeats. `DeliveryDetail` has this form. */
export interface LoggedDelivery {
  readonly log: readonly {
    readonly url: string
    readonly requestHeaders: PostRequest['headers']
    /** `null` if it is that of the delivery. */
    readonly requestBody: PostRequest['body'] | null
  }[]
  readonly body: PostRequest['body']
}

/** Shell commands that repeat a delivery's last request with a new signature; undefined before its first attempt. */
export function curlOfDelivery({ log, body }: LoggedDelivery): string | undefined {
  const last = log.at(-1)
  return last && curlOf({ url: last.url, headers: last.requestHeaders, body: last.requestBody ?? body })
}

function signing(sent: string): readonly string[] {
  const now = NOW.find(([form]) => form.test(sent))?.[1] ?? '$(date +%s)'
  return [
    // bash takes an apostrophe in this message for an open quote.
    `  export SIGNING_SECRET="\${SIGNING_SECRET:?set it to the signing secret of the endpoint first}"`,
    `  t=${now}`,
    `  signature=$({ printf %s. "$t"; body; } | node -p ${shellWord(HMAC)})`,
  ]
}

/** Word for `-H`. Double quotes let the shell insert the new signature; a header's name may contain shell syntax, too. */
function headerOf(name: string, value: string): string {
  const scheme = SIGNATURE.exec(value)?.[2]
  if (scheme !== undefined) return `${shellWord(`${name}: `)}"t=$t,${scheme}=$signature"`
  // curl drops a header whose value is empty, unless a semicolon ends its name.
  return shellWord(value === '' ? `${name};` : `${name}: ${value}`)
}

/** Keeps curl from declaring a form if the request had no content type. */
function contentType(kept: readonly (readonly [string, string])[]): readonly string[] {
  return kept.some(([name]) => name.toLowerCase() === 'content-type') ? [] : [shellWord('content-type:')]
}

/**
 * Shell command that prints the body. The built-in `printf` has no length limit, but no argument can contain NUL. Control
 * characters would act on the terminal that a command is pasted into, as would `!` on a later line in an older bash.
 */
function bodyOf({ text, base64 }: PostRequest['body']): string {
  const isPlain = base64 === null && !CONTROL.test(text)
  const end = text.indexOf('\n')
  if (isPlain && (end === -1 || !text.includes('!', end))) return `printf %s ${shellWord(text)}`
  return `printf %s ${shellWord(base64 ?? base64Of(text))} | base64 -d`
}

/** Returns the base64 of a text's UTF-8 bytes, also in a browser. */
export function base64Of(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), byte => String.fromCharCode(byte)).join(''))
}

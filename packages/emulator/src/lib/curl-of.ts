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
/** Reads the secret from the environment. As an argument of openssl it would show in the process list. */
const HMAC = `require("crypto").createHmac("sha256",process.env.SIGNING_SECRET).update(require("fs").readFileSync(0)).digest("hex")`

/**
 * Shell commands that sign the request anew with the secret in `SIGNING_SECRET` and send it. The body goes through
 * standard input, which has no size limit.
 */
export function curlOf({ url, headers, body }: PostRequest): string {
  const kept = Object.entries(headers).filter(([name]) => !NOT_REPEATED.includes(name.toLowerCase()))
  const options = kept.map(([name, value]) => ` \\\n    -H ${headerOf(name, value)}`).join('')
  const signed = kept.map(([, value]) => SIGNATURE.exec(value)?.[1]).find(t => t !== undefined)
  return [
    '( # A subshell keeps these variables local.',
    `  body() { ${bodyOf(body)}; }`,
    ...(signed === undefined ? [] : signing(signed)),
    `  body | curl -i ${quoted(url)}${options} \\\n    --data-binary @-`,
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
    `  export SIGNING_SECRET="\${SIGNING_SECRET:?set it to the endpoint's signing secret first}"`,
    `  t=${now}`,
    `  signature=$({ printf %s. "$t"; body; } | node -p ${quoted(HMAC)})`,
  ]
}

/** Quotes a header. Double quotes let the shell insert the new signature. */
function headerOf(name: string, value: string): string {
  const scheme = SIGNATURE.exec(value)?.[2]
  return scheme === undefined ? quoted(`${name}: ${value}`) : `"${name}: t=$t,${scheme}=$signature"`
}

/** Shell command that prints the body. The built-in `printf` has no length limit, but no argument can contain NUL. */
function bodyOf({ text, base64 }: PostRequest['body']): string {
  if (base64 === null && !text.includes('\0')) return `printf %s ${quoted(text)}`
  return `printf %s ${quoted(base64 ?? base64Of(text))} | base64 -d`
}

/** Returns the base64 of a text's UTF-8 bytes, also in a browser. */
export function base64Of(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), byte => String.fromCharCode(byte)).join(''))
}

/** Quotes text as one word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

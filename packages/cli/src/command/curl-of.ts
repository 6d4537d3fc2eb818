/** A request as a command is to repeat it. */
interface PostRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: { readonly text: string; readonly base64: string | null }
}

/** Set by curl itself, or belonging to one connection. */
const NOT_REPEATED = ['content-length', 'host', 'connection', 'transfer-encoding']
const SIGNATURE = /^t=([^,]+),([\w-]+)=[0-9a-f]{64}(?:,|$)/i
/** Timestamp in the unit of the `t` that was sent. */
const NOW: readonly (readonly [RegExp, string])[] = [
  [/^\d{13,}$/, '$(date +%s)000'],
  [/T/, '$(date -u +%Y-%m-%dT%H:%M:%SZ)'],
]
/** Node reads the secret from the environment: as an argument of openssl it would be in the list of processes. */
const HMAC = `require("crypto").createHmac("sha256",process.env.SIGNING_SECRET).update(require("fs").readFileSync(0)).digest("hex")`

/**
 * Commands for a shell that send the request with a new signature, made with the secret in `SIGNING_SECRET`. The body
 * goes through standard input, which has no limit.
 */
export function curlOf({ url, headers, body }: PostRequest): string {
  const kept = Object.entries(headers).filter(([name]) => !NOT_REPEATED.includes(name.toLowerCase()))
  const options = kept.map(([name, value]) => ` \\\n    -H ${headerOf(name, value)}`).join('')
  const signed = kept.map(([, value]) => SIGNATURE.exec(value)?.[1]).find(t => t !== undefined)
  return [
    '( # A shell of its own, so that nothing of this stays.',
    `  body() { ${bodyOf(body)}; }`,
    ...(signed === undefined ? [] : signing(signed)),
    `  body | curl -i ${quoted(url)}${options} \\\n    --data-binary @-`,
    ')',
  ].join('\n')
}

function signing(sent: string): readonly string[] {
  const now = NOW.find(([form]) => form.test(sent))?.[1] ?? '$(date +%s)'
  return [
    `  export SIGNING_SECRET="\${SIGNING_SECRET:?is the secret of the endpoint: set it first}"`,
    `  t=${now}`,
    `  signature=$({ printf %s. "$t"; body; } | node -p ${quoted(HMAC)})`,
  ]
}

/** Quotes a header: in double quotes if the shell is to insert the new signature. */
function headerOf(name: string, value: string): string {
  const scheme = SIGNATURE.exec(value)?.[2]
  return scheme === undefined ? quoted(`${name}: ${value}`) : `"${name}: t=$t,${scheme}=$signature"`
}

/** `printf` is built in, and so may have an argument of any length. No argument can hold a NUL. */
function bodyOf({ text, base64 }: PostRequest['body']): string {
  if (base64 === null && !text.includes('\0')) return `printf %s ${quoted(text)}`
  return `printf %s ${quoted(base64 ?? base64Of(text))} | base64 -d`
}

function base64Of(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), byte => String.fromCharCode(byte)).join(''))
}

/** One word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

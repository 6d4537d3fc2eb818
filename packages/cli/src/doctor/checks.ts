import { literal, parseSignatureHeader, Refusal } from '@ackhook/core/spi'
import { type JsonTree, keysOf, numbersOf, parseTree } from '../delivery/json-tree.ts'
import { type Check, type Facts, type Finding, proves } from './evidence.ts'

/** Checks that compute no digest, in their order of judgment. Each one that applies is the whole cause. */
export const CHECKS: readonly Check[] = [
  methodNotPost,
  headerMissing,
  headerTwice,
  headerTruncated,
  headerMalformed,
  timestampUnit,
  clockOff,
  bodyNoEvent,
]

/** Checks for traces in a body whose signed form cannot be reconstructed. The first one that applies counts. */
export const TRACES: readonly Check[] = [
  bodyEmpty,
  bodyTruncated,
  contentEncoded,
  bodyReplaced,
  somethingElse,
]

function methodNotPost({ delivery }: Facts): Finding | undefined {
  if (delivery.method.toUpperCase() === 'POST') return undefined
  return {
    cause: 'method-not-post',
    proven: true,
    text: `This is a ${delivery.method} request, not a delivery: webhooks are sent by POST. Something else called the address, such as a browser or a health check. Or a redirect turned the POST into a GET: register the final address with the platform.`,
  }
}

const LOOKS_SIGNED = /^\s*"?t=[^,;]+[,;]\s*[A-Za-z0-9_-]+=/

function headerMissing({ headerLines, headerName, delivery }: Facts): Finding | undefined {
  if (headerLines.length > 0) return undefined
  const alike = delivery.headers.find(([, value]) => LOOKS_SIGNED.test(value))
  if (alike !== undefined) {
    return {
      cause: 'header-renamed',
      proven: true,
      text: `There is no header ${headerName}, but ${alike[0]} holds a signature. Give the receiver that name: contract: { header: ${literal(alike[0])} }.`,
    }
  }
  return {
    cause: 'header-missing',
    proven: true,
    text: `There is no header ${headerName}. Either the request is not from the platform, or a proxy in front of your app removes unknown headers: configure it to forward ${headerName}.`,
  }
}

/** Finds repeated headers, including those that a server joined into one value with two `t`. */
function headerTwice(facts: Facts): Finding | undefined {
  const { headerName, headerLines, code } = facts
  if (code !== 'signature_malformed') return undefined
  const values = headerLines.flatMap(splitJoined)
  if (values.length < 2) return undefined
  const same = new Set(values.map(value => value.trim())).size === 1
  const right = values.findIndex(value => verifies(value, facts))
  const which =
    right === -1
      ? 'none of them matches this secret'
      : same
        ? 'both are the same valid signature'
        : `no. ${right + 1} is valid`
  return {
    cause: 'header-twice',
    proven: true,
    text: `The header ${headerName} is present ${values.length} times; ${which}. A receiver refuses that, because it cannot tell which one to trust. Look for a proxy or a test client that adds the header to a request that already has it, and make it replace or keep the header.`,
  }
}

function splitJoined(line: string): string[] {
  return line.split(/,\s*(?=t=)/).filter(value => value.includes('t='))
}

function verifies(value: string, facts: Facts): boolean {
  const signature = parseSignatureHeader(value, facts.scheme)
  if (signature instanceof Refusal) return false
  return [facts.secret, ...facts.others].some(secret =>
    proves({ ...facts, signature }, { key: secret.value }),
  )
}

const DIGITS = 64

function headerTruncated({ headerName, headerLines, scheme, code }: Facts): Finding | undefined {
  if (code !== 'signature_malformed') return undefined
  const elements = (headerLines[0] ?? '').split(',').map(element => element.trim())
  const last = elements.at(-1) ?? ''
  const digest = last.startsWith(`${scheme}=`) ? last.slice(scheme.length + 1) : undefined
  const isStart = digest !== undefined && digest.length < DIGITS && /^[0-9a-f]*$/i.test(digest)
  if (!isStart) return undefined
  return {
    cause: 'header-truncated',
    proven: true,
    text: `The signature ends after ${digest.length} of ${DIGITS} digits: the header ${headerName} was cut off. Look for a header size limit in a proxy, or for a log that shortens long lines, and use the whole value.`,
  }
}

/** Recognizes the known ways to get `t=<timestamp>,v1=<64 hexadecimal digits>` wrong. */
function headerMalformed({ headerName, headerLines, scheme, code }: Facts): Finding | undefined {
  if (code !== 'signature_malformed') return undefined
  const value = headerLines[0] ?? ''
  const expected = `t=<timestamp>,${scheme}=<64 hexadecimal digits>`
  return {
    cause: 'header-malformed',
    proven: true,
    text: `The header ${headerName} does not have the form ${expected}: ${reasonIn(value, scheme)}.`,
  }
}

function reasonIn(value: string, scheme: string): string {
  if (/^\s*["']/.test(value)) return 'it is in quotes. Remove them in the code that sets the header'
  if (value.includes(';'))
    return 'a semicolon separates its parts. Use a comma in the code that sets the header'
  const labels = [...value.matchAll(/(?:^|,)\s*([A-Za-z0-9_-]+)=/g)].map(match => match[1] as string)
  const other = labels.find(label => label !== 't' && label !== scheme)
  if (!labels.includes(scheme) && other !== undefined) {
    return `the signature is labeled '${other}'. If the platform has changed its label, set contract: { scheme: ${literal(other)} }`
  }
  if (!labels.includes(scheme))
    return `it has no ${scheme}=. Check that the platform sends it, and that the whole value arrives`
  if (!labels.includes('t'))
    return 'it has no t=. Check that the whole value arrives; a signature without a time cannot be accepted'
  if (new RegExp(`${scheme}=[A-Za-z0-9+/_-]{43}=?(?:,|$)`).test(value)) {
    return 'the signature is base64 instead of hexadecimal. Encode the digest in hexadecimal in the code that signs'
  }
  return 'compare it character by character with the result of sign() from @ackhook/testing'
}

function timestampUnit(facts: Facts): Finding | undefined {
  const { signature, code, timestampUnit: expected } = facts
  if (signature === undefined || code !== 'timestamp_malformed') return undefined
  const found = unitOf(signature.timestamp)
  if (found === undefined) {
    return {
      cause: 'timestamp-malformed',
      proven: true,
      text: `The signature's t is not a timestamp: it must be ten digits (seconds), thirteen digits (milliseconds) or ISO 8601 UTC such as 2026-03-01T12:00:00Z. In the code that signs, use Math.floor(Date.now() / 1000).`,
    }
  }
  return {
    cause: 'timestamp-unit',
    proven: true,
    text: `The signature's t is in ${found}, but the receiver expects ${expected === 'iso8601' ? 'ISO 8601' : expected}. Set contract: { timestampUnit: 'auto' } (the default reads every unit), or omit the option.`,
  }
}

function unitOf(text: string): string | undefined {
  if (/^\d{13}$/.test(text)) return 'milliseconds'
  if (/^\d{10}$/.test(text)) return 'seconds'
  return /^\d{4}-\d\d-\d\dT/.test(text) ? 'ISO 8601' : undefined
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const NEAR_MS = 2 * MINUTE_MS

/** Finds a clock that is wrong. The signature is valid then, as a receiver checks the time last. */
function clockOff({ delivery, timestampMs, code }: Facts): Finding | undefined {
  if (timestampMs === undefined) return undefined
  if (code !== 'timestamp_too_old' && code !== 'timestamp_too_new') return undefined
  const offMs = delivery.receivedAt - timestampMs
  const off = `${amountOf(Math.abs(offMs))} ${offMs > 0 ? 'ahead of' : 'behind'}`
  return {
    cause: isWholeHours(offMs) ? 'time-zone' : 'clock-off',
    proven: true,
    text: `The signature is valid, but the receiving machine's clock is ${off} the time in the signature. ${adviceFor(offMs)}`,
  }
}

function adviceFor(offMs: number): string {
  if (isWholeHours(offMs)) {
    return 'That is a whole number of hours: some code uses local time as if it were UTC. Compare `date -u` on this machine with the actual time, and check how the sender makes t.'
  }
  const clock = 'Compare `date -u` on that machine with the actual time and enable time synchronization (NTP)'
  if (offMs < 0) return `${clock}.`
  return `${clock}. If the clock is right, the delivery arrived late: it is a replay, or a retry that kept its first timestamp. To accept those, set the option tolerance to the length of the retry window, for example tolerance: '3d' together with retention: '7d'.`
}

function isWholeHours(offMs: number): boolean {
  const ms = Math.abs(offMs)
  const hours = Math.round(ms / HOUR_MS)
  return hours >= 1 && hours <= 14 && Math.abs(ms - hours * HOUR_MS) <= NEAR_MS
}

function amountOf(ms: number): string {
  if (ms < 2 * MINUTE_MS) return `${Math.round(ms / 1000)} seconds`
  if (ms < 2 * HOUR_MS) return `${Math.round(ms / MINUTE_MS)} minutes`
  if (ms < 48 * HOUR_MS) return `${Math.round(ms / HOUR_MS)} hours`
  return `${Math.round(ms / (24 * HOUR_MS))} days`
}

/** Finds a valid signature over something other than an event. */
function bodyNoEvent({ code }: Facts): Finding | undefined {
  if (code === 'json_invalid') {
    return {
      cause: 'body-no-json',
      proven: true,
      text: 'The signature is right, but the body is not JSON. A sender that has the secret signed something other than an event: find out which one.',
    }
  }
  if (code !== 'envelope_invalid') return undefined
  return {
    cause: 'body-no-event',
    proven: true,
    text: 'The signature is right, but the body is not an event: it needs the strings id, type and created_at, and the object data. If the platform has renamed a field, set contract: { fields: { id: ... } }.',
  }
}

function bodyEmpty({ delivery, text }: Facts): Finding | undefined {
  const hollow = delivery.body.length === 0 || text.trim() === '{}' || text === '[object Object]'
  if (!hollow) return undefined
  const what = delivery.body.length === 0 ? 'empty' : `only ${text.trim()}`
  return {
    cause: 'body-empty',
    proven: false,
    text: `The body is ${what}: something consumed it before it was saved, usually a body parser such as app.use(express.json()). Mount the webhook route above every body parser.`,
  }
}

/** Compares the body with `Content-Length`, or checks that it ends like JSON if that header is missing. */
function bodyTruncated({ delivery, headers, text }: Facts): Finding | undefined {
  const length = delivery.body.length
  const announced = headers['content-length']
  const expected = announced !== undefined && /^\d+$/.test(announced) ? Number(announced) : undefined
  if (expected !== undefined && expected > length) {
    return {
      cause: 'body-truncated',
      proven: true,
      text: `The body is cut off: Content-Length is ${expected} bytes, but ${length} arrived. Look for a body size limit or a short timeout in a proxy, or for code that saved only part of the body.`,
    }
  }
  if (expected !== undefined && expected < length) {
    return {
      cause: 'body-changed',
      proven: true,
      text: `The body was changed after it was sent: Content-Length is ${expected} bytes, but there are ${length}. Something between the platform and your code rewrites it; give the receiver the bytes as they arrived.`,
    }
  }
  if (expected !== undefined || !/^\s*\{/.test(text) || /\}\s*$/.test(text)) return undefined
  return {
    cause: 'body-truncated',
    proven: false,
    text: `The body seems to be cut off: it begins as a JSON object but does not end as one, after ${length} bytes. Look for a body size limit in a proxy, or for code that saved only part of the body.`,
  }
}

function contentEncoded({ headers }: Facts): Finding | undefined {
  const encoding = headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') return undefined
  return {
    cause: 'body-compressed',
    proven: false,
    text: 'The request has a Content-Encoding, so something compressed the body, or decompressed it and kept the header. The signature covers the bytes that the platform wrote: disable request compression in the proxy in front of your app.',
  }
}

function bodyReplaced({ text }: Facts): Finding | undefined {
  if (!text.includes('\ufffd')) return undefined
  return {
    cause: 'body-replaced',
    proven: false,
    text: 'The body contains the replacement character U+FFFD: bytes that are not UTF-8 were decoded as text in transit, and their values are lost. Handle the body as bytes (a Buffer) everywhere, never as a string.',
  }
}

/** Always applies, with advice for a delivery whose fault was not found. */
function somethingElse({ text, secret, others }: Facts): Finding | undefined {
  const tried =
    others.length === 0 ? `the secret from ${secret.source}` : `any of ${others.length + 1} secrets`
  const lost = lossOf(text)
  if (lost !== undefined) {
    return {
      cause: 'secret-wrong',
      proven: false,
      text: `The signature does not match ${tried}, and no change of the body can be seen. The secret probably belongs to another endpoint or workspace, or is an old one: copy this endpoint's secret again. If it is right, the body was parsed and serialized again without a trace, which ${lost}: save the delivery again with npx ackhook listen --save, with nothing between it and the platform.`,
    }
  }
  return isCompact(text)
    ? {
        cause: 'secret-wrong',
        proven: false,
        text: `The signature does not match ${tried}, and the body looks unchanged. The secret probably belongs to another endpoint or workspace, or is an old one: copy this endpoint's secret again. During a rotation, set the other secret as SIGNING_SECRET_2.`,
      }
    : {
        cause: 'unknown',
        proven: false,
        text: `The signature does not match ${tried}, and no usual change of the body explains it. Check that the secret belongs to this endpoint, and that these are the bytes as they arrived: save the delivery again with npx ackhook listen --save, with nothing between it and the platform.`,
      }
}

/** Returns what a parser may have lost of a compact body, so that it only looks unchanged. */
function lossOf(text: string): string | undefined {
  const tree = isCompact(text) ? treeOf(text) : undefined
  if (tree === undefined) return undefined
  const losses = [
    ...(numbersOf(tree).length > 0
      ? ['writes numbers otherwise (1.0 and 1e3 become 1 and 1000, and the last digits of long ones change)']
      : []),
    ...(keysOf(tree).some(key => /^\d+$/.test(key)) ? ['sorts keys that are numbers'] : []),
  ]
  return losses.length === 0 ? undefined : losses.join(' and ')
}

/** Returns nothing for what is nested too deeply. */
function treeOf(text: string): JsonTree | undefined {
  try {
    return parseTree(text)
  } catch {
    return undefined
  }
}

function isCompact(text: string): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === text
  } catch {
    return false
  }
}

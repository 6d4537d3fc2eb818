/**
 * Writes the vector files into its own folder: `node test/vectors/generate.mjs`. Computes the signatures with only
 * `createHmac`, by the platform's published rule, so that no vector repeats a mistake in the library.
 */
import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'

const secret = 'whsec_vectors_0123456789abcdef'
const other = 'whsec_another_0123456789abcdef'
const now = 1_767_225_600_000
const T = String(now / 1000)
const HEADER = 'x-service-signature'

const bytesOf = body => (typeof body === 'string' ? Buffer.from(body, 'utf8') : Buffer.from(body))
const hmac = (t, body, key = secret) =>
  createHmac('sha256', key).update(t, 'latin1').update('.').update(bytesOf(body)).digest('hex')
const envelope = fields =>
  JSON.stringify({
    id: 'evt_1',
    type: 'conversation.resolved',
    created_at: '2026-01-01T00:00:00Z',
    data: { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'ai' },
    ...fields,
  })
const BODY = envelope({})
const GOOD = hmac(T, BODY)
const WRONG = hmac(T, BODY, other)

const STATUS = {
  accepted: 202,
  duplicate: 200,
  method_not_allowed: 405,
  body_too_large: 413,
  content_encoding_unsupported: 415,
  signature_missing: 401,
  signature_malformed: 401,
  signature_mismatch: 401,
  timestamp_malformed: 401,
  timestamp_too_old: 401,
  timestamp_too_new: 401,
  json_invalid: 400,
  envelope_invalid: 400,
}

/** Returns a request with its outcome. `headers` come before the signature, if there is one. */
function request(
  reason,
  { signature, headers = [['content-type', 'application/json']], body = BODY, method = 'POST' } = {},
) {
  const signed = signature === undefined ? [] : [signature].flat().map(value => [HEADER, value])
  const status = STATUS[reason]
  return {
    method,
    headers: [...headers, ...signed],
    body: segments(body),
    status,
    code: status === 401 ? 'unauthorized' : reason,
    reason,
  }
}

/** Returns a body as one base64 text, or as a list of texts, each with its number of repetitions. */
function segments(body) {
  if (!Array.isArray(body)) return bytesOf(body).toString('base64')
  return body.map(([part, times]) => ({ base64: bytesOf(part).toString('base64'), times }))
}
const whole = body =>
  Array.isArray(body)
    ? Buffer.concat(body.flatMap(([part, times]) => Array(times).fill(bytesOf(part))))
    : bytesOf(body)

/** Returns a correctly signed request. */
const signed = (reason, body = BODY, rest = {}) =>
  request(reason, { signature: `t=${T},v1=${hmac(T, whole(body))}`, body, ...rest })

function write(file, about, vectors) {
  const ids = new Set()
  for (const { id } of vectors) {
    if (ids.has(id)) throw new Error(`two vectors are called ${id}`)
    ids.add(id)
  }
  const list = vectors.map(vector => `    ${JSON.stringify(vector)}`).join(',\n')
  const head = JSON.stringify({ about, secret, now }).slice(1, -1)
  writeFileSync(new URL(file, import.meta.url), `{\n  ${head},\n  "vectors": [\n${list}\n  ]\n}\n`)
  return vectors.length
}

// --- The signature header, over a fixed body and a fresh t.

const header = (id, about, reason, signature, options) => ({
  id: `header-${id}`,
  about,
  ...(options && { options }),
  requests: [request(reason, { signature })],
})
const malformed = (id, about, signature) => header(id, about, 'signature_malformed', signature)
const wrongs = Array.from({ length: 17 }, (_, i) => `v1=${hmac(T, `${i}`)}`)
const padTo = (value, length) => `${value},x=${'0'.repeat(length - value.length - 3)}`

const headers = [
  header('good', 'The published form.', 'accepted', `t=${T},v1=${GOOD}`),
  header('order', 'v1 before t.', 'accepted', `v1=${GOOD},t=${T}`),
  header('space-after-comma', 'A space after the comma.', 'accepted', `t=${T}, v1=${GOOD}`),
  header('spaces-around-commas', 'Spaces and tabs around the comma.', 'accepted', `t=${T} \t, \tv1=${GOOD}`),
  header('trailing-comma', 'Empty elements are ignored.', 'accepted', `,t=${T},,v1=${GOOD},`),
  header('upper-case', 'Upper-case hexadecimal digits.', 'accepted', `t=${T},v1=${GOOD.toUpperCase()}`),
  header(
    'mixed-case',
    'Digits in both cases.',
    'accepted',
    `t=${T},v1=${GOOD.slice(0, 32).toUpperCase()}${GOOD.slice(32)}`,
  ),
  header('two-good-first', 'Two v1, the good one first.', 'accepted', `t=${T},v1=${GOOD},v1=${WRONG}`),
  header('two-good-last', 'Two v1, the good one last.', 'accepted', `t=${T},v1=${WRONG},v1=${GOOD}`),
  header(
    'sixteen-good-last',
    'Sixteen v1 are allowed.',
    'accepted',
    `t=${T},${wrongs.slice(0, 15)},v1=${GOOD}`,
  ),
  malformed('seventeen-good-first', 'Seventeen v1 are too many.', `t=${T},v1=${GOOD},${wrongs.slice(0, 16)}`),
  header(
    'sixteen-wrong',
    'Sixteen v1 and none matches.',
    'signature_mismatch',
    `t=${T},${wrongs.slice(0, 16)}`,
  ),
  header(
    'unknown-schemes',
    'v0 and v2 next to v1 are ignored.',
    'accepted',
    `t=${T},v0=${WRONG},v1=${GOOD},v2=x`,
  ),
  malformed('only-v0', 'The good digest under another scheme.', `t=${T},v0=${GOOD}`),
  malformed('only-v2', 'The good digest under another scheme.', `t=${T},v2=${GOOD}`),
  malformed('scheme-upper-case', 'V1 is not v1.', `t=${T},V1=${GOOD}`),
  malformed('scheme-longer', 'v1a is not v1.', `t=${T},v1a=${GOOD}`),
  header('v1-empty-first', 'An empty v1 before a valid one.', 'accepted', `t=${T},v1=,v1=${GOOD}`),
  header(
    'v1-good-after-malformed',
    'A v1 in another form before a valid one.',
    'accepted',
    `t=${T},v1=zz,v1=${GOOD}`,
  ),
  header(
    'v1-good-before-malformed',
    'A v1 in another form after a valid one.',
    'accepted',
    `t=${T},v1=${GOOD},v1=potato`,
  ),
  malformed('t-upper-case', 'T is not t.', `T=${T},v1=${GOOD}`),
  malformed('no-t', 'No t.', `v1=${GOOD}`),
  malformed('no-v1', 'No v1.', `t=${T}`),
  malformed('two-t-equal', 'The same t twice.', `t=${T},t=${T},v1=${GOOD}`),
  malformed('two-t-good-first', 'Two t, the signed one first.', `t=${T},t=1,v1=${GOOD}`),
  malformed('two-t-good-last', 'Two t, the signed one last.', `t=1,t=${T},v1=${GOOD}`),
  malformed('sent-twice-equal', 'The good header, sent twice.', [`t=${T},v1=${GOOD}`, `t=${T},v1=${GOOD}`]),
  malformed('sent-twice-forged-first', 'A forged header before the good one.', [
    `t=${T},v1=${WRONG}`,
    `t=${T},v1=${GOOD}`,
  ]),
  malformed('sent-twice-forged-last', 'A forged header after the good one.', [
    `t=${T},v1=${GOOD}`,
    `t=${T},v1=${WRONG}`,
  ]),
  header('missing', 'No signature header.', 'signature_missing', undefined),
  malformed('empty', 'An empty signature header.', ''),
  malformed('comma', 'Nothing but a comma.', ','),
  malformed('no-equals', 'An element without a value.', `t=${T},v1=${GOOD},x`),
  malformed('no-name', 'An element without a name.', `t=${T},v1=${GOOD},=x`),
  malformed('v1-without-equals', 'v1 without a value.', `t=${T},v1,v1=${GOOD}`),
  malformed('v1-space-inside', 'A space after the equals sign of v1.', `t=${T},v1= ${GOOD}`),
  malformed('space-before-equals', 'A space before the equals sign of v1.', `t=${T},v1 =${GOOD}`),
  malformed('quoted', 'A quoted digest.', `t=${T},v1="${GOOD}"`),
  malformed('semicolon', 'A semicolon for a comma.', `t=${T};v1=${GOOD}`),
  malformed('v1-63', '63 digits.', `t=${T},v1=${GOOD.slice(0, 63)}`),
  malformed('v1-65', '65 digits.', `t=${T},v1=${GOOD}0`),
  malformed('v1-128', 'The digest twice.', `t=${T},v1=${GOOD}${GOOD}`),
  malformed('v1-0x', 'A 0x in front.', `t=${T},v1=0x${GOOD}`),
  malformed('v1-non-hex-last', 'The last character is not a digit.', `t=${T},v1=${GOOD.slice(0, 63)}g`),
  malformed('v1-non-hex-first', 'The first character is not a digit.', `t=${T},v1=z${GOOD.slice(1)}`),
  malformed(
    'v1-non-ascii',
    '63 digits and a letter that is two bytes of UTF-8.',
    `t=${T},v1=${GOOD.slice(0, 63)}\u00e9`,
  ),
  malformed('base64', 'The digest in base64.', `t=${T},v1=${Buffer.from(GOOD, 'hex').toString('base64')}`),
  malformed('github-form', "Another platform's form.", `sha256=${GOOD}`),
  malformed('bare-digest', 'The digest alone.', GOOD),
  header('zeros', 'A digest of zeros.', 'signature_mismatch', `t=${T},v1=${'0'.repeat(64)}`),
  header('another-secret', 'Signed with another secret.', 'signature_mismatch', `t=${T},v1=${WRONG}`),
  header(
    'empty-secret',
    'Signed with the empty secret.',
    'signature_mismatch',
    `t=${T},v1=${hmac(T, BODY, '')}`,
  ),
  header(
    'body-only',
    'The digest of the body without t.',
    'signature_mismatch',
    `t=${T},v1=${createHmac('sha256', secret).update(BODY).digest('hex')}`,
  ),
  header(
    'no-dot',
    'The digest without the dot.',
    'signature_mismatch',
    `t=${T},v1=${createHmac('sha256', secret)
      .update(T + BODY)
      .digest('hex')}`,
  ),
  header(
    'another-t',
    'The digest of another t.',
    'signature_mismatch',
    `t=${T},v1=${hmac(String(Number(T) - 1), BODY)}`,
  ),
  header(
    'plain-hash',
    'A hash without a key.',
    'signature_mismatch',
    `t=${T},v1=${'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'}`,
  ),
  header(
    'last-digit-differs',
    'One digit of the digest is wrong.',
    'signature_mismatch',
    `t=${T},v1=${GOOD.slice(0, 63)}${(Number.parseInt(GOOD[63], 16) ^ 1).toString(16)}`,
  ),
  header(
    'first-digit-differs',
    'One digit of the digest is wrong.',
    'signature_mismatch',
    `t=${T},v1=${(Number.parseInt(GOOD[0], 16) ^ 8).toString(16)}${GOOD.slice(1)}`,
  ),
  header('4096', 'The longest allowed header.', 'accepted', padTo(`t=${T},v1=${GOOD}`, 4096)),
  malformed('4097', 'One character too long.', padTo(`t=${T},v1=${GOOD}`, 4097)),
  malformed('8000', 'Much too long.', padTo(`t=${T},v1=${GOOD}`, 8000)),
  header('rotation-old', 'Two secrets, signed with the first.', 'accepted', `t=${T},v1=${GOOD}`, {
    secret: [secret, other],
  }),
  header('rotation-new', 'Two secrets, signed with the second.', 'accepted', `t=${T},v1=${WRONG}`, {
    secret: [secret, other],
  }),
  header('rotation-both', 'Two secrets, signed with both.', 'accepted', `t=${T},v1=${WRONG},v1=${GOOD}`, {
    secret: [secret, other],
  }),
  header(
    'rotation-third',
    'Two secrets, signed with a third.',
    'signature_mismatch',
    `t=${T},v1=${hmac(T, BODY, `${other}!`)}`,
    { secret: [secret, other] },
  ),
  header('scheme-pinned', 'Another label by contract.', 'accepted', `t=${T},s256=${GOOD}`, {
    contract: { scheme: 's256' },
  }),
  header(
    'scheme-pinned-v1',
    'v1 when the contract says otherwise.',
    'signature_malformed',
    `t=${T},v1=${GOOD}`,
    { contract: { scheme: 's256' } },
  ),
  header(
    'name-pinned-old',
    'The published name when the contract says otherwise.',
    'signature_missing',
    `t=${T},v1=${GOOD}`,
    { contract: { header: 'X-Other-Signature' } },
  ),
  {
    id: 'header-name-pinned',
    about: 'Another name by contract.',
    options: { contract: { header: 'X-Other-Signature' } },
    requests: [request('accepted', { headers: [['X-Other-Signature', `t=${T},v1=${GOOD}`]] })],
  },
  {
    id: 'header-name-upper-case',
    about: 'Header names are case-insensitive.',
    requests: [request('accepted', { headers: [['X-SERVICE-SIGNATURE', `t=${T},v1=${GOOD}`]] })],
  },
  {
    id: 'header-proto-beside',
    about: 'A header named __proto__ next to the good one.',
    requests: [
      signed('accepted', BODY, {
        headers: [
          ['__proto__', 'x'],
          ['constructor', 'x'],
        ],
      }),
    ],
  },
  ...Array.from({ length: 64 }, (_, digits) =>
    malformed(
      `prefix-${String(digits).padStart(2, '0')}`,
      'A proper prefix of the good digest.',
      `t=${T},v1=${GOOD.slice(0, digits)}`,
    ),
  ),
]

// --- t, always with the correct digest over its raw text.

const time = (id, about, reason, t, options) => ({
  id: `timestamp-${id}`,
  about,
  ...(options && { options }),
  requests: [request(reason, { signature: `t=${t},v1=${hmac(t, BODY)}` })],
})
const noTime = (id, t) => time(`malformed-${id}`, `t is '${t}'.`, 'timestamp_malformed', t)
const unit = timestampUnit => ({ contract: { timestampUnit } })
const seconds = offset => String(now / 1000 + offset)
const instant = (offsetMs, digits = 0) =>
  new Date(now + offsetMs).toISOString().replace(/\.\d+Z$/, digits ? text => text : 'Z')

const timestamps = [
  time('now', 'Seconds.', 'accepted', seconds(0)),
  time('300-old', 'As old as it may be.', 'accepted', seconds(-300)),
  time('301-old', 'One second too old.', 'timestamp_too_old', seconds(-301)),
  time('300-ahead', 'As far ahead as it may be.', 'accepted', seconds(300)),
  time('301-ahead', 'One second too far ahead.', 'timestamp_too_new', seconds(301)),
  time('10-minutes-old', 'Ten minutes old.', 'timestamp_too_old', seconds(-600)),
  time('hour-ahead', 'An hour ahead.', 'timestamp_too_new', seconds(3600)),
  time('10-years-ahead', 'Ten years ahead.', 'timestamp_too_new', seconds(315_360_000)),
  time('10-years-old', 'Ten years old.', 'timestamp_too_old', seconds(-315_360_000)),
  time('milliseconds', 'Milliseconds.', 'accepted', String(now)),
  time('milliseconds-300000-old', 'As old as it may be.', 'accepted', String(now - 300_000)),
  time('milliseconds-300001-old', 'One millisecond too old.', 'timestamp_too_old', String(now - 300_001)),
  time('milliseconds-300000-ahead', 'As far ahead as it may be.', 'accepted', String(now + 300_000)),
  time(
    'milliseconds-300001-ahead',
    'One millisecond too far ahead.',
    'timestamp_too_new',
    String(now + 300_001),
  ),
  time('instant', 'ISO 8601 UTC.', 'accepted', instant(0)),
  time('instant-fraction', 'ISO 8601 UTC with a fraction.', 'accepted', instant(250, 3)),
  time(
    'instant-nanoseconds',
    'ISO 8601 UTC with nine digits of a second.',
    'accepted',
    '2026-01-01T00:00:00.123456789Z',
  ),
  time('instant-offset-zero', 'ISO 8601 with a zero offset.', 'accepted', '2026-01-01T00:00:00+00:00'),
  time('instant-300-old', 'As old as it may be.', 'accepted', instant(-300_000)),
  time('instant-301-old', 'One second too old.', 'timestamp_too_old', instant(-301_000)),
  time('instant-301-ahead', 'One second too far ahead.', 'timestamp_too_new', instant(301_000)),
  time('pinned-seconds', 'The unit is pinned and used.', 'accepted', seconds(0), unit('seconds')),
  time(
    'pinned-seconds-other',
    'The unit is pinned and another is used.',
    'timestamp_malformed',
    String(now),
    unit('seconds'),
  ),
  time('pinned-milliseconds', 'The unit is pinned and used.', 'accepted', String(now), unit('milliseconds')),
  time(
    'pinned-milliseconds-other',
    'The unit is pinned and another is used.',
    'timestamp_malformed',
    seconds(0),
    unit('milliseconds'),
  ),
  time('pinned-iso8601', 'The unit is pinned and used.', 'accepted', instant(0), unit('iso8601')),
  time(
    'pinned-iso8601-other',
    'The unit is pinned and another is used.',
    'timestamp_malformed',
    seconds(0),
    unit('iso8601'),
  ),
  time(
    'pinned-seconds-instant',
    'The unit is pinned and another is used.',
    'timestamp_malformed',
    instant(0),
    unit('seconds'),
  ),
  time('tolerance-600-old', 'A wider tolerance.', 'accepted', seconds(-600), { tolerance: '600s' }),
  time('tolerance-601-old', 'Outside a wider tolerance.', 'timestamp_too_old', seconds(-601), {
    tolerance: '600s',
  }),
  time('tolerance-1-old', 'A narrow tolerance.', 'timestamp_too_old', seconds(-2), { tolerance: '1s' }),
  time('tolerance-off', 'The check is turned off.', 'accepted', seconds(-315_360_000), { tolerance: false }),
  time('tolerance-off-malformed', 'Turned off, t must still be a time.', 'timestamp_malformed', 'abc', {
    tolerance: false,
  }),
  {
    id: 'timestamp-stale-and-forged',
    about: 'A sender that cannot sign gets no information about the time.',
    requests: [request('signature_mismatch', { signature: `t=${seconds(-9000)},v1=${WRONG}` })],
  },
  {
    id: 'timestamp-rendered-again',
    about: 'The digest covers the raw text of t, not a reformatted number.',
    requests: [request('signature_mismatch', { signature: `t=${String(now)},v1=${GOOD}` })],
  },
  noTime('empty', ''),
  noTime('suffix', '1767225600abc'),
  noTime('word', 'abc'),
  noTime('nan', 'NaN'),
  noTime('infinity', 'Infinity'),
  noTime('undefined', 'undefined'),
  noTime('negative', '-5'),
  noTime('negative-seconds', `-${T}`),
  noTime('plus', `+${T}`),
  noTime('exponent', '1e9'),
  noTime('exponent-now', '1.7672256e9'),
  noTime('hexadecimal', '0x6955b900'),
  noTime('fraction', `${T}.5`),
  noTime('underscore', '1767_225600'),
  noTime('zero', '0'),
  noTime('nine-digits', '767225600'),
  noTime('leading-zero', `0${T.slice(1)}`),
  noTime('leading-zero-more', `0${T}`),
  noTime('eleven-digits', `${T}0`),
  noTime('twelve-digits', `${T}00`),
  noTime('fourteen-digits', `${now}0`),
  noTime('beyond-2-53', '9007199254740993'),
  noTime('inner-space', `${T.slice(0, 5)} ${T.slice(5)}`),
  noTime('leading-space', ` ${T}`),
  // UTF-8 bytes of Arabic and full-width digits, as a server reads them from headers byte by byte.
  noTime(
    'arabic-digits',
    Buffer.from('\u0661\u0667\u0666\u0667\u0662\u0662\u0665\u0666\u0660\u0660').toString('latin1'),
  ),
  noTime('superscript', '\xb9767225600'),
  noTime('instant-no-zone', '2026-01-01T00:00:00'),
  noTime('instant-lower-case', '2026-01-01t00:00:00z'),
  noTime('instant-space', '2026-01-01 00:00:00Z'),
  noTime('instant-offset', '2026-01-01T01:00:00+01:00'),
  noTime('instant-30-february', '2026-02-30T00:00:00Z'),
  noTime('instant-month-13', '2026-13-01T00:00:00Z'),
  noTime('instant-hour-25', '2026-01-01T25:00:00Z'),
  noTime('date', '2026-01-01'),
  noTime('instant-suffix', '2026-01-01T00:00:00Zx'),
]

// --- Bodies: only the exact signed bytes.

const body = (id, about, reason, bytes) => ({ id: `body-${id}`, about, requests: [signed(reason, bytes)] })
const swapped = (id, about, sent, signedBody) => ({
  id: `body-${id}`,
  about,
  requests: [request('signature_mismatch', { signature: `t=${T},v1=${hmac(T, signedBody)}`, body: sent })],
})
const around = (before, bytes, after) =>
  Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])
const withText = bytes =>
  around(envelope({ note: '@' }).split('@')[0], bytes, envelope({ note: '@' }).split('@')[1])
const parsed = JSON.parse(BODY)
const MIB = 1_048_576

const bodies = [
  body(
    'float',
    'A number that a serializer would print differently.',
    'accepted',
    BODY.replace('"ai"', '1.0'),
  ),
  body('escaped-letter', 'A letter written as an escape.', 'accepted', BODY.replace('ai', '\\u00e9')),
  body('plain-letter', 'The same letter in UTF-8.', 'accepted', BODY.replace('ai', '\u00e9')),
  swapped(
    'escape-undone',
    'A letter written as an escape, and sent in UTF-8.',
    BODY.replace('ai', '\u00e9'),
    BODY.replace('ai', '\\u00e9'),
  ),
  body(
    'key-order',
    'Keys in another order.',
    'accepted',
    JSON.stringify(parsed, Object.keys(parsed).reverse().concat(Object.keys(parsed.data))),
  ),
  swapped(
    'keys-sorted',
    'Keys sorted after signing.',
    JSON.stringify(parsed, Object.keys(parsed).sort().concat(Object.keys(parsed.data))),
    BODY,
  ),
  body('pretty', 'Indented.', 'accepted', JSON.stringify(parsed, null, 2)),
  swapped('pretty-printed', 'Indented after signing.', JSON.stringify(parsed, null, 2), BODY),
  swapped('made-compact', 'Made compact after signing.', BODY, JSON.stringify(parsed, null, 2)),
  body(
    'crlf',
    'Lines that end with CR LF.',
    'accepted',
    JSON.stringify(parsed, null, 2).replaceAll('\n', '\r\n'),
  ),
  swapped(
    'crlf-changed',
    'CR LF signed, LF sent.',
    JSON.stringify(parsed, null, 2),
    JSON.stringify(parsed, null, 2).replaceAll('\n', '\r\n'),
  ),
  body('newline-last', 'A newline at the end.', 'accepted', `${BODY}\n`),
  swapped('newline-added', 'A newline added after signing.', `${BODY}\n`, BODY),
  swapped('last-byte-lost', 'The last byte is missing.', BODY.slice(0, -1), BODY),
  swapped('nothing-left', 'The whole body is missing.', '', BODY),
  body('bom', 'A byte order mark.', 'accepted', `\ufeff${BODY}`),
  swapped('bom-lost', 'A byte order mark was signed and not sent.', BODY, `\ufeff${BODY}`),
  swapped('bom-added', 'A byte order mark was sent and not signed.', `\ufeff${BODY}`, BODY),
  body('two-boms', 'Only the first byte order mark counts.', 'json_invalid', `\ufeff\ufeff${BODY}`),
  body('invalid-utf8', 'Invalid UTF-8 in a text.', 'accepted', withText([0xff, 0xfe])),
  swapped(
    'invalid-utf8-replaced',
    'Other bytes that decode to the same text.',
    withText([0xef, 0xbf, 0xbd, 0xef, 0xbf, 0xbd]),
    withText([0xff, 0xfe]),
  ),
  swapped(
    'invalid-utf8-other',
    'Other bytes that decode to the same text.',
    withText([0xfe, 0xff]),
    withText([0xff, 0xfe]),
  ),
  body('nul', 'A NUL byte after the JSON: a valid signature, but invalid JSON.', 'json_invalid', `${BODY}\0`),
  body('empty', 'An empty body, signed.', 'json_invalid', ''),
  body('no-json', 'A signed body that is not JSON.', 'json_invalid', 'hello'),
  body('form', 'A signed body that is a form.', 'json_invalid', 'payload=%7B%7D'),
  body('trailing-garbage', 'JSON and something after it.', 'json_invalid', `${BODY}{}`),
  body('utf16', 'JSON in UTF-16.', 'json_invalid', Buffer.from(BODY, 'utf16le')),
  body('8191', 'Around the size at which the HMAC changes its way.', 'accepted', [
    [BODY, 1],
    [' ', 8191 - BODY.length],
  ]),
  body('8192', 'Around the size at which the HMAC changes its way.', 'accepted', [
    [BODY, 1],
    [' ', 8192 - BODY.length],
  ]),
  body('8193', 'Around the size at which the HMAC changes its way.', 'accepted', [
    [BODY, 1],
    [' ', 8193 - BODY.length],
  ]),
  body('1-mib', 'As large as a body may be.', 'accepted', [
    [BODY, 1],
    [' ', MIB - BODY.length],
  ]),
  body('1-mib-and-1', 'One byte too large.', 'body_too_large', [
    [BODY, 1],
    [' ', MIB - BODY.length + 1],
  ]),
  body('deep', 'An array of 100,000 levels.', 'accepted', [
    ['{"id":"evt_deep","type":"a.b","created_at":"","data":{"x":', 1],
    ['[', 100_000],
    [']', 100_000],
    ['}}', 1],
  ]),
  body('deep-poison', 'An array of 100,000 levels around a __proto__.', 'accepted', [
    ['{"id":"evt_deep","type":"a.b","created_at":"","data":{"x":', 1],
    ['[', 100_000],
    ['{"__proto__":{"polluted":1}}', 1],
    [']', 100_000],
    ['}}', 1],
  ]),
  {
    id: 'body-limit-reached',
    about: 'As large as the option body.limit allows.',
    options: { body: { limit: 1000 } },
    requests: [
      signed('accepted', [
        [BODY, 1],
        [' ', 1000 - BODY.length],
      ]),
    ],
  },
  {
    id: 'body-limit-exceeded',
    about: 'One byte over the option body.limit.',
    options: { body: { limit: 1000 } },
    requests: [
      signed('body_too_large', [
        [BODY, 1],
        [' ', 1001 - BODY.length],
      ]),
    ],
  },
]

// --- Envelopes, all correctly signed.

const shape = (id, about, reason, text, options) => ({
  id: `envelope-${id}`,
  about,
  ...(options && { options }),
  requests: [signed(reason, text)],
})
const bad = (id, about, text) => shape(id, about, 'envelope_invalid', text)
const good = (id, about, text, options) => shape(id, about, 'accepted', text, options)
const without = name => JSON.stringify({ ...parsed, [name]: undefined })
const named = (id, value) => [
  bad(`id-${id}`, `An id that is ${id}.`, envelope({ id: value })),
  bad(`type-${id}`, `A type that is ${id}.`, envelope({ type: value })),
]
const remapped = {
  contract: { fields: { id: 'event_id', type: 'event', created_at: 'at', data: 'payload' } },
}

const envelopes = [
  bad('null', 'null.', 'null'),
  bad('number', 'A number.', '1'),
  bad('text', 'A text.', '"evt_1"'),
  bad('array', 'A list of envelopes.', `[${BODY}]`),
  bad('object-empty', 'An object without fields.', '{}'),
  ...['id', 'type', 'created_at', 'data'].map(name => bad(`no-${name}`, `No ${name}.`, without(name))),
  ...named('a-number', 1),
  ...named('null', null),
  ...named('an-object', {}),
  ...named('empty', ''),
  ...named('256-bytes', 'x'.repeat(256)),
  ...named('258-bytes-of-86-characters', '\u20ac'.repeat(86)),
  ...named('256-bytes-of-64-pairs', '\u{1f600}'.repeat(64)),
  ...named('with-a-newline', 'evt\n1'),
  ...named('with-a-nul', 'evt\u00001'),
  ...named('with-delete', 'evt\u007f1'),
  bad('id-lone-surrogate', 'An id with half a character.', BODY.replace('evt_1', 'evt_\\ud800')),
  bad(
    'type-lone-surrogate',
    'A type with half a character.',
    BODY.replace('conversation.resolved', 'a.\\udc00'),
  ),
  good('id-255-bytes', 'An id as long as it may be.', envelope({ id: 'x'.repeat(255) })),
  good('id-255-bytes-of-85-characters', 'An id as long as it may be.', envelope({ id: '\u20ac'.repeat(85) })),
  good(
    'id-254-bytes-of-127-characters',
    'An id of two-byte letters.',
    envelope({ id: '\u00e9'.repeat(127) }),
  ),
  good(
    'id-252-bytes-of-63-pairs',
    'An id of four-byte characters.',
    envelope({ id: '\u{1f600}'.repeat(63) }),
  ),
  good('id-one-byte', 'An id as short as it may be.', envelope({ id: 'x' })),
  good('id-without-prefix', 'An id that does not begin with evt_.', envelope({ id: '42' })),
  good('type-unknown', 'An unpublished type.', envelope({ type: 'planet.aligned' })),
  good('type-without-dot', 'A type without a category.', envelope({ type: 'ping' })),
  good('type-proto', 'A type called __proto__.', envelope({ type: '__proto__' })),
  good('type-constructor', 'A type called constructor.', envelope({ type: 'constructor' })),
  good('type-to-string', 'A type called toString.', envelope({ type: 'toString' })),
  good('type-star', 'A type that looks like a pattern.', envelope({ type: '*' })),
  bad('created-at-number', 'created_at is a number.', envelope({ created_at: 1767225600 })),
  bad('created-at-null', 'created_at is null.', envelope({ created_at: null })),
  good(
    'created-at-no-instant',
    'created_at is a text but not an instant.',
    envelope({ created_at: 'yesterday' }),
  ),
  bad('data-null', 'data is null.', envelope({ data: null })),
  bad('data-array', 'data is a list.', envelope({ data: [] })),
  bad('data-text', 'data is a text.', envelope({ data: 'x' })),
  good('data-empty', 'data is an empty object.', envelope({ data: {} })),
  good('unknown-fields', 'Additional fields.', envelope({ version: 2, account: { id: 'a' } })),
  good(
    'proto-in-data',
    'A hostile key does not make an event undeliverable.',
    BODY.replace('"channel"', '"__proto__":{"polluted":true},"channel"'),
  ),
  good(
    'proto-escaped',
    'The same key written with an escape.',
    BODY.replace('"channel"', '"\\u005f_proto__":{"polluted":true},"channel"'),
  ),
  good(
    'constructor-in-data',
    'A hostile key does not make an event undeliverable.',
    BODY.replace('"channel"', '"constructor":{"prototype":{"polluted":true}},"channel"'),
  ),
  good(
    'proto-top',
    'A hostile key next to the fields.',
    BODY.replace('{', '{"__proto__":{"polluted":true},'),
  ),
  bad('id-by-proto', 'Fields are not inherited.', `{"__proto__":${BODY}}`),
  good('key-twice', 'A duplicate key: the last one counts.', BODY.replace('{', '{"id":"evt_0",')),
  good(
    'remapped',
    'Other field names by contract.',
    JSON.stringify({ event_id: 'evt_1', event: 'a.b', at: '', payload: {} }),
    remapped,
  ),
  shape(
    'remapped-old-names',
    'The published names when the contract says otherwise.',
    'envelope_invalid',
    BODY,
    remapped,
  ),
]

// --- The head of the request.

const head = (id, about, reason, rest) => ({
  id: `request-${id}`,
  about,
  requests: [signed(reason, BODY, rest)],
})
const type = (id, value) =>
  head(`content-type-${id}`, `Content-Type: ${value}`, 'accepted', { headers: [['content-type', value]] })
const encoding = (id, value, reason = 'content_encoding_unsupported') =>
  head(`content-encoding-${id}`, `Content-Encoding: ${value}`, reason, {
    headers: [
      ['content-type', 'application/json'],
      ['content-encoding', value],
    ],
  })

const heads = [
  ...['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'].map(method => ({
    id: `request-method-${method.toLowerCase()}`,
    about: `${method}, signed.`,
    requests: [signed('method_not_allowed', '', { method })],
  })),
  encoding('gzip', 'gzip'),
  encoding('upper-case', 'GZIP'),
  encoding('br', 'br'),
  encoding('deflate', 'deflate'),
  encoding('list', 'identity, gzip'),
  encoding('unknown', 'x-nothing'),
  encoding('identity', 'identity', 'accepted'),
  encoding('identity-upper-case', 'Identity', 'accepted'),
  type('charset', 'application/json; charset=utf-8'),
  type('charset-other', 'application/json; charset=utf-16'),
  type('upper-case', 'APPLICATION/JSON'),
  type('text', 'text/plain'),
  type('form', 'application/x-www-form-urlencoded'),
  type('octet-stream', 'application/octet-stream'),
  type('vendor', 'application/vnd.service+json'),
  head('content-type-none', 'No Content-Type.', 'accepted', { headers: [] }),
  type('garbage', 'garbage'),
  type('garbage-tab', 'application/json\t;x'),
]

// --- Several requests to one receiver, in order.

const story = (id, about, ...requests) => ({ id: `dedupe-${id}`, about, requests })
const resigned = (reason, bytes, offset) => {
  const t = seconds(offset)
  return request(reason, { signature: `t=${t},v1=${hmac(t, bytes)}`, body: bytes })
}
const forged = request('signature_mismatch', { signature: `t=${T},v1=${WRONG}` })

const stories = [
  story('replay', 'The same request twice.', signed('accepted'), signed('duplicate'), signed('duplicate')),
  story(
    'signed-again',
    'The same event, signed again for a retry.',
    resigned('accepted', BODY, -60),
    resigned('duplicate', BODY, 0),
  ),
  story('other-bytes', 'The same id with other bytes is not run again.', signed('accepted'), {
    ...signed('duplicate', envelope({ data: {} })),
    conflict: true,
  }),
  story(
    'id-in-header',
    'Only the signed body identifies the event.',
    signed('accepted', BODY, { headers: [['x-event-id', 'evt_1']] }),
    signed('duplicate', BODY, { headers: [['x-event-id', 'evt_2']] }),
  ),
  story(
    'other-id',
    'Another id is another event.',
    signed('accepted'),
    signed('accepted', envelope({ id: 'evt_2' })),
  ),
  story(
    'id-case',
    'Ids are compared exactly.',
    signed('accepted'),
    signed('accepted', envelope({ id: 'EVT_1' })),
  ),
  story(
    'id-space',
    'Ids are compared exactly.',
    signed('accepted'),
    signed('accepted', envelope({ id: 'evt_1 ' })),
  ),
  story(
    'id-normal-forms',
    'Two Unicode forms of one letter are two ids.',
    signed('accepted', envelope({ id: '\u00e9' })),
    signed('accepted', envelope({ id: 'e\u0301' })),
  ),
  story(
    'id-big-numbers',
    'Digits are text.',
    signed('accepted', envelope({ id: '9007199254740993' })),
    signed('accepted', envelope({ id: '9007199254740992' })),
  ),
  story('other-type', 'The id alone identifies the event.', signed('accepted'), {
    ...signed('duplicate', envelope({ type: 'a.b' })),
    conflict: true,
  }),
  story(
    'forged-first',
    'A forged request leaves no trace.',
    forged,
    signed('accepted'),
    forged,
    signed('duplicate'),
  ),
  story(
    'stale-first',
    'A stale request leaves no trace.',
    resigned('timestamp_too_old', BODY, -301),
    signed('accepted'),
  ),
  story(
    'invalid-first',
    'A refused envelope leaves no trace.',
    signed('envelope_invalid', envelope({ data: null })),
    signed('accepted'),
  ),
]

// --- Tests of other projects, adapted to this contract: signature tests of stripe-node and Standard Webhooks, and
// octokit's middleware tests. README.md lists those that differ by design.

const asked = (id, about, ...requests) => ({ id, about, requests })
const withOptions = (options, { id, about, requests }) => ({ id, about, options, requests })
const one = (id, about, reason, signature, rest) => asked(id, about, request(reason, { signature, ...rest }))
const at = (id, about, reason, t, options) =>
  withOptions(options, one(id, about, reason, `t=${t},v1=${hmac(t, BODY)}`))
const INDENTED = JSON.stringify(JSON.parse(BODY), null, 2)
const MULTILINGUAL = envelope({ data: { text: 'Zażółć gęślą jaźń, 会話, 🙂\u2028' } })
const NO_JSON = '[123; no } json at all'

const stripe = [
  asked('stripe-genuine', 'An indented body with a genuine header.', signed('accepted', INDENTED)),
  asked(
    'stripe-bytes',
    'The bytes count, whatever type they had in memory.',
    signed('accepted', MULTILINGUAL),
  ),
  asked('stripe-no-json', 'Signed bytes need not be JSON.', signed('json_invalid', NO_JSON)),
  one(
    'stripe-no-json-forged',
    'Forged and not JSON: only the first is reported.',
    'signature_mismatch',
    `t=${T},v1=${WRONG}`,
    {
      body: NO_JSON,
    },
  ),
  one('stripe-bad-header', 'A header of one word.', 'signature_malformed', 'bad_header'),
  one(
    'stripe-sentence',
    'A header that is a sentence.',
    'signature_malformed',
    'This is no signature, is it?',
  ),
  one(
    'stripe-bad-header-empty-body',
    'A header of one word over nothing.',
    'signature_malformed',
    'bad_header',
    {
      body: '',
    },
  ),
  asked('stripe-empty-body', 'Nothing, genuinely signed.', signed('json_invalid', '')),
  one('stripe-header-missing', 'No header.', 'signature_missing', undefined),
  one('stripe-header-empty', 'An empty header.', 'signature_malformed', ''),
  one('stripe-header-list', 'The header as a list.', 'signature_malformed', [
    `t=${T},v1=${GOOD}`,
    `t=${T},v1=${GOOD}`,
  ]),
  one(
    'stripe-only-scheme-v0',
    'No signature of the expected scheme.',
    'signature_malformed',
    `t=${T},v0=${GOOD}`,
  ),
  one(
    'stripe-signature-a-word',
    'A signature that is a word.',
    'signature_malformed',
    `t=${T},v1=bad_signature`,
  ),
  one('stripe-signature-wrong', 'No signature that matches.', 'signature_mismatch', `t=${T},v1=${WRONG}`),
  one('stripe-one-of-two', 'One good signature is enough.', 'accepted', `t=${T},v1=${GOOD},v1=potato`),
  one('stripe-another-body', 'The signature of another body.', 'signature_mismatch', `t=${T},v1=${GOOD}`, {
    body: INDENTED,
  }),
  asked(
    'stripe-other-kind-of-event',
    'Genuine, and of another shape.',
    signed('envelope_invalid', '{"id":"evt_1","object":"x"}'),
  ),
  at('stripe-15-s-old-of-10', 'Older than the tolerance.', 'timestamp_too_old', seconds(-15), {
    tolerance: '10s',
  }),
  at('stripe-9-s-old-of-10', 'Within the tolerance.', 'accepted', seconds(-9), { tolerance: '10s' }),
  at('stripe-400-s-old', 'Older than the default.', 'timestamp_too_old', seconds(-400)),
  at('stripe-100-s-old', 'Within the default.', 'accepted', seconds(-100)),
  at('stripe-old-without-tolerance', 'Years old, without a tolerance.', 'accepted', seconds(-99_999_999), {
    tolerance: false,
  }),
  at(
    'stripe-five-digits',
    'By design: ten digits, even without a tolerance.',
    'timestamp_malformed',
    '12345',
    {
      tolerance: false,
    },
  ),
  at('stripe-fraction', 'By design: no fraction of a second.', 'timestamp_malformed', `${T}.25`),
  withOptions(
    { secret: `${secret} ` },
    one('stripe-secret-space', 'A secret with a trailing space.', 'signature_mismatch', `t=${T},v1=${GOOD}`),
  ),
]

const standard = [
  asked('standard-genuine', 'The published form.', signed('accepted')),
  asked('standard-id-missing', 'No id.', signed('envelope_invalid', without('id'))),
  one('standard-timestamp-missing', 'No timestamp.', 'signature_malformed', `v1=${GOOD}`),
  at('standard-timestamp-a-word', 'A timestamp that is a word.', 'timestamp_malformed', 'hello'),
  one('standard-signature-missing', 'No signature.', 'signature_malformed', `t=${T}`),
  one('standard-header-missing', 'No header.', 'signature_missing', undefined),
  one(
    'standard-signature-garbage',
    'Letters that are not a digest.',
    'signature_malformed',
    `t=${T},v1=qwertyuiopasdfghjkl`,
  ),
  one(
    'standard-signature-part',
    'A part of the signature.',
    'signature_malformed',
    `t=${T},v1=${GOOD.slice(0, 8)}`,
  ),
  one('standard-signature-empty', 'An empty signature.', 'signature_malformed', `t=${T},v1=`),
  withOptions(
    { contract: { header: 'webhook-signature' } },
    {
      id: 'standard-other-header',
      about: 'The same under another name.',
      requests: [request('accepted', { headers: [['webhook-signature', `t=${T},v1=${GOOD}`]] })],
    },
  ),
  at('standard-old', 'A second older than five minutes.', 'timestamp_too_old', seconds(-301)),
  at('standard-new', 'A second more than five minutes ahead.', 'timestamp_too_new', seconds(301)),
  one(
    'standard-several',
    'Wrong ones and another version around a good one.',
    'accepted',
    `t=${T},v1=${WRONG},v2=${GOOD},v1=${GOOD},v1=${hmac(T, 'x')}`,
  ),
  one(
    'standard-several-none',
    'Only another version is good.',
    'signature_mismatch',
    `t=${T},v1=${WRONG},v2=${GOOD}`,
  ),
  one(
    'standard-several-by-spaces',
    'By design: commas separate signatures.',
    'signature_malformed',
    `t=${T},v1=${WRONG} v1=${GOOD}`,
  ),
  withOptions(
    { secret: secret.slice('whsec_'.length) },
    one(
      'standard-secret-without-prefix',
      'By design: the prefix is a part of the secret.',
      'signature_mismatch',
      `t=${T},v1=${GOOD}`,
    ),
  ),
  one(
    'standard-base64',
    'By design: hexadecimal.',
    'signature_malformed',
    `t=${T},v1=${Buffer.from(GOOD, 'hex').toString('base64')}`,
  ),
]

const octokit = [
  asked('octokit-genuine', "The README's event.", signed('accepted')),
  asked('octokit-redelivered', 'The same delivery again.', signed('accepted'), signed('duplicate')),
  one(
    'octokit-no-json-unsigned',
    'By design: the signature comes before the JSON.',
    'signature_mismatch',
    `t=${T},v1=${GOOD}`,
    {
      body: 'invalid',
    },
  ),
  asked('octokit-no-json', 'Signed, and not JSON.', signed('json_invalid', 'invalid')),
  asked(
    'octokit-put',
    'By design: 405, and not a page that does not exist.',
    signed('method_not_allowed', BODY, { method: 'PUT' }),
  ),
  asked('octokit-get', 'The same for GET.', request('method_not_allowed', { method: 'GET', body: '' })),
  asked('octokit-name-missing', 'No event name.', signed('envelope_invalid', without('type'))),
  asked('octokit-id-missing', 'No delivery id.', signed('envelope_invalid', without('id'))),
  one('octokit-signature-missing', 'By design: 401.', 'signature_missing', undefined),
  asked('octokit-one-chunk', 'A body in one part.', signed('accepted', [[BODY, 1]])),
  asked(
    'octokit-chunks',
    'A body in several parts.',
    signed('accepted', [
      [BODY.slice(0, 20), 1],
      [BODY.slice(20), 1],
    ]),
  ),
  asked(
    'octokit-split-character',
    'A character of two bytes, one in each part.',
    signed('accepted', splitIn(envelope({ data: { a: 'ݔ' } }), 'ݔ')),
  ),
  asked(
    'octokit-half-character',
    'By design: half a character is not JSON, and is not replaced.',
    signed('json_invalid', [[Buffer.from([226]), 1]]),
  ),
  asked('octokit-empty', 'No part at all.', signed('json_invalid', '')),
  asked(
    'octokit-no-content-type',
    'By design: Content-Type is not part of the contract.',
    signed('accepted', BODY, { headers: [] }),
  ),
  asked(
    'octokit-special-characters',
    'Characters that serializers write differently.',
    signed('accepted', MULTILINGUAL),
  ),
  one('octokit-sha1', "An older algorithm's form.", 'signature_malformed', `sha1=${GOOD.slice(0, 40)}`),
  one('octokit-wrong-secret', 'Another secret.', 'signature_mismatch', `t=${T},v1=${WRONG}`),
  one('octokit-wrong-payload', 'Another payload.', 'signature_mismatch', `t=${T},v1=${GOOD}`, {
    body: `${BODY} `,
  }),
]

/** Returns the bytes of a text in two parts, split inside this character. */
function splitIn(text, character) {
  const bytes = bytesOf(text)
  const index = bytes.indexOf(Buffer.from(character)) + 1
  return [
    [bytes.subarray(0, index), 1],
    [bytes.subarray(index), 1],
  ]
}

const counts = {
  header: write('header.json', 'The signature header.', headers),
  timestamp: write('timestamp.json', "The signature header's t.", timestamps),
  body: write('body.json', 'The exact bytes of the body.', bodies),
  envelope: write('envelope.json', 'The JSON of a correctly signed body.', envelopes),
  request: write('request.json', 'Method, Content-Encoding and Content-Type.', heads),
  dedupe: write('dedupe.json', 'Several requests to one receiver.', stories),
  others: write('others.json', 'Tests of other projects.', [...stripe, ...standard, ...octokit]),
}
process.stdout.write(`${JSON.stringify(counts)}\n`)

import { verifyRequest } from '@ackhook/core'
import Stripe from 'stripe'

const SECRET = 'whsec_of_both_libraries_01'
const NOW_S = 1_767_225_600
const TOLERANCE_S = 300
const clock = () => NOW_S * 1000
const contract = { timestampUnit: 'seconds' }
const { signature } = Stripe.webhooks
const encoder = new TextEncoder()
/** The form that the platform publishes, with one signature or several. */
const PUBLISHED = /^t=[1-9]\d{9}(,v1=[0-9a-f]{64})+$/
/** Reasons that come after a signature has matched in time. */
const PROVEN = ['json_invalid', 'envelope_invalid', 'event_invalid', 'body_too_complex']
const PIECES = [
  ',',
  '=',
  't=',
  'v1=',
  ' ',
  '\t',
  'T',
  '0',
  'a',
  'F',
  '\u0000',
  'é',
  '٣',
  '💶',
  `t=${NOW_S}`,
  `v1=${'0'.repeat(64)}`,
  'v1=,',
  'v0=1',
  '{',
  '"',
  '\\u00e9',
  '\r\n',
]

/**
 * Compares `verifyRequest` with Stripe's library, whose header has the same form, over mutated requests from `seed`. Needs
 * only web interfaces. Ours must accept nothing that Stripe refuses, unless only spaces, elements of another form
 * or the case of digits are in its way, and everything that Stripe accepts in the published form, unless it is of the future, which Stripe
 * allows.
 */
export async function compareWithStripe({ seed, count }) {
  const random = randomFrom(seed)
  const sign = await signer()
  const wrong = []
  let accepted = 0
  for (let i = 0; i < count; i++) {
    const { header, body } = await mutated(random, sign, i)
    const ours = await oursAccepts(header, body)
    if (ours.accepts) accepted++
    const stripes = await stripeAccepts(header, body)
    if (ours.accepts === stripes || (await mayDiffer(ours, header, body))) continue
    wrong.push(`seed ${seed}, request ${i}: ${JSON.stringify({ header, body, ours, stripes })}`)
  }
  return { accepted, wrong: wrong.slice(0, 5) }
}

async function mayDiffer(ours, header, body) {
  if (ours.accepts) return stripeAccepts(canonical(header), body)
  return ours.reason === 'timestamp_too_new' || !PUBLISHED.test(header)
}

/** A header without what Stripe's parser does not allow for, or compares and fails. */
function canonical(header) {
  const elements = header.split(',').map(one => one.replace(/^[\t-\r ]+|[\t-\r ]+$/g, ''))
  const digests = elements.filter(one => /^v1=[0-9a-f]{64}$/i.test(one)).map(one => one.toLowerCase())
  return [elements.find(one => one.startsWith('t=')), ...digests].join(',')
}

async function oursAccepts(header, body) {
  const headers = { 'x-service-signature': header }
  const { event, reason } = await verifyRequest({ headers, body, secret: SECRET, contract, clock })
  return { accepts: event !== undefined || PROVEN.includes(reason), reason }
}

async function stripeAccepts(header, body) {
  try {
    return await signature.verifyHeaderAsync(body, header, SECRET, TOLERANCE_S, undefined, clock())
  } catch {
    return false
  }
}

/** A request that is genuine, old, of the future, of another secret, or changed after it was signed. */
async function mutated(random, sign, i) {
  const whole = max => Math.floor(random() * max)
  const times = [
    NOW_S,
    NOW_S - whole(700),
    NOW_S + whole(700),
    `${NOW_S}.5`,
    `0${NOW_S}`,
    `+${NOW_S}`,
    NOW_S * 1000,
    '',
  ]
  const t = random() < 0.7 ? NOW_S : times[whole(times.length)]
  const body = edited(
    `{"id":"evt_${i}","type":"a.b","created_at":"2026-01-01T00:00:00Z","data":{}}`,
    whole,
    whole(2),
  )
  const digest = await sign(`${t}.${body}`)
  const first = `t=${t}`
  const others = Array.from(
    { length: whole(3) },
    () => `v${whole(3)}=${'0123456789abcdef'[whole(16)].repeat(64)}`,
  )
  const elements = [`v1=${random() < 0.1 ? digest.toUpperCase() : digest}`, ...others]
  const glue = [',', ',', ',', ', ', ',,'][whole(5)]
  const header = (random() < 0.9 ? [first, ...elements] : [...elements, first]).join(glue)
  return { header: edited(header, whole, whole(3)), body: edited(body, whole, random() < 0.3 ? 1 : 0) || '.' }
}

/** A text with parts removed, doubled, replaced or inserted. */
function edited(text, whole, times) {
  let result = text
  for (let n = 0; n < times; n++) {
    const start = whole(result.length + 1)
    const end = start + [0, 0, 1, whole(70)][whole(4)]
    const put = whole(5) === 0 ? result.slice(start, end).repeat(2) : PIECES[whole(PIECES.length)]
    result = result.slice(0, start) + put + result.slice(end)
  }
  // Half of a pair cannot be sent.
  return result.toWellFormed()
}

async function signer() {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(SECRET), algorithm, false, ['sign'])
  return async text => {
    const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(text)))
    return Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('')
  }
}

function randomFrom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

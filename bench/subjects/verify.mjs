import { WebhookVerificationService } from '@hookflo/tern'
import { verify as octokitVerify } from '@octokit/webhooks-methods'
import bolt from '@slack/bolt'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { Webhook as SvixWebhook } from 'svix'
import { resolveContract } from '../../packages/core/dist/contract.js'
import { createDecoder } from '../../packages/core/dist/decode-event.js'
import { createSecrets } from '../../packages/core/dist/secrets.js'
import { createVerifier } from '../../packages/core/dist/verify-request.js'
import { createFastestVerify, createVerifyByHand } from '../by-hand/verify.mjs'
import { DIALECTS, SECRET } from '../lib/dialects.mjs'
import { eventBody } from '../lib/event-body.mjs'
import { interleave, median, ratio } from '../lib/rounds.mjs'
import { showBytes, showNumber, showRatio, table } from '../lib/table.mjs'

const SIZES = [300, 2000, 20_000, 256_000]
const SAMPLE_MS = 25
const FLOOR = 'fastest correct way'
const BY_HAND = 'idiomatic by hand'

/** Verification, and verification with `JSON.parse`, in one process: nanoseconds a call. */
export async function measureVerify({ quick }) {
  const rounds = quick ? 5 : 15
  const whole = await compare(true, rounds)
  const alone = await compare(false, rounds)
  return {
    markdown: [
      '## Verify and parse, in process',
      'Time a call, divided by the fastest correct way in the same round; lower is better. Median of the rounds and their range.',
      `### Verify and parse\n\n${whole.table}`,
      `### Verification alone\n\n${alone.table}`,
    ].join('\n\n'),
    figures: { whole: whole.figures, alone: alone.figures },
  }
}

/** For each size: ours as a ratio to the fastest way, and each peer as a ratio to ours. */
async function compare(parse, rounds) {
  const rows = new Map()
  const figures = {}
  for (const size of SIZES) {
    const contenders = await createContenders(eventBody(size).bytes, parse)
    const samples = await interleave([...contenders.keys()], {
      rounds,
      warmUps: 2,
      measure: name => nanosecondsPerCall(contenders.get(name)),
    })
    const floor = samples.get(FLOOR)
    for (const [name, own] of samples) {
      const cell = name === FLOOR ? `${showNumber(median(own) / 1000)} µs` : showRatio(ratio(own, floor))
      rows.set(name, [...(rows.get(name) ?? [name]), cell])
    }
    const ours = samples.get('ackhook')
    const peers = [...samples].filter(([name]) => ![FLOOR, BY_HAND, 'ackhook'].includes(name))
    figures[size] = {
      toFastest: ratio(ours, floor),
      peers: Object.fromEntries(peers.map(([name, own]) => [name, ratio(own, ours)])),
    }
  }
  return { table: table(['', ...SIZES.map(showBytes)], [...rows.values()]), figures }
}

/** Functions of the same work: an awaited one answers a promise, and is awaited. Each is tried once. */
export async function createContenders(body, parse) {
  const t = Math.floor(Date.now() / 1000)
  const id = 'msg_0000000000000000000000000000'
  const headers = Object.fromEntries(
    Object.entries(DIALECTS).map(([name, sign]) => [
      name,
      { 'content-type': 'application/json', ...sign(body, t, id) },
    ]),
  )
  const contenders = new Map(
    Object.entries({
      ...byHand(body, headers, parse),
      ...ours(body, headers, parse),
      ...peers(body, headers, parse),
    }),
  )
  for (const [name, run] of contenders) {
    const result = await run()
    if (parse ? typeof result?.id !== 'string' : result === false)
      throw new Error(`${name} refused a good request`)
  }
  return contenders
}

function byHand(body, headers, parse) {
  const header = headers.service['x-service-signature']
  const idiomatic = createVerifyByHand(SECRET)
  const fastest = createFastestVerify(SECRET)
  const after = ok => (ok && parse ? JSON.parse(body.toString()) : ok)
  return {
    [FLOOR]: () => after(fastest(header, body)),
    [BY_HAND]: () => after(idiomatic(header, body)),
  }
}

function ours(body, headers, parse) {
  const contract = resolveContract()
  const verify = createVerifier({
    contract,
    macs: createSecrets(SECRET, console),
    toleranceMs: 300_000,
    clock: Date.now,
  })
  const decode = createDecoder(contract, {})
  const run = () => (verify(headers.service, body) === undefined ? !parse || decode(body) : false)
  return { ackhook: run }
}

function peers(body, headers, parse) {
  const stripe = new Stripe('sk_test_bench')
  const svix = new SvixWebhook(SECRET)
  const standard = new StandardWebhook(SECRET)
  const { verifySlackRequest } = bolt
  const slackHeaders = {
    'x-slack-signature': headers.slack['x-slack-signature'],
    'x-slack-request-timestamp': Number(headers.slack['x-slack-request-timestamp']),
  }
  const wholeOnly = {
    'stripe constructEvent': () =>
      stripe.webhooks.constructEvent(body, headers.stripe['stripe-signature'], SECRET),
    svix: () => svix.verify(body, headers.standard),
    standardwebhooks: () => standard.verify(body, headers.standard),
    '@hookflo/tern': async () => {
      const request = new Request('http://localhost/', { method: 'POST', headers: headers.stripe, body })
      const result = await WebhookVerificationService.verifyWithPlatformConfig(request, 'stripe', SECRET)
      return result.isValid ? result.payload : false
    },
  }
  const verifyOnly = {
    '@octokit/webhooks-methods': async () => {
      const text = body.toString()
      const ok = await octokitVerify(SECRET, text, headers.github['x-hub-signature-256'])
      return ok && parse ? JSON.parse(text) : ok
    },
    '@slack/bolt verifySlackRequest': () => {
      const text = body.toString()
      verifySlackRequest({ signingSecret: SECRET, body: text, headers: slackHeaders })
      return parse ? JSON.parse(text) : true
    },
  }
  const stripeVerify = {
    'stripe verifyHeader': () =>
      stripe.webhooks.signature.verifyHeader(body, headers.stripe['stripe-signature'], SECRET, 300),
  }
  return parse ? { ...wholeOnly, ...verifyOnly } : { ...stripeVerify, ...verifyOnly }
}

/** As many calls as fit into a sample. A promise is awaited each time, as its user would. */
async function nanosecondsPerCall(run) {
  const until = performance.now() + SAMPLE_MS
  const start = performance.now()
  const waits = run() instanceof Promise
  let calls = 1
  for (let now = start; now < until; now = performance.now()) {
    for (let i = 0; i < 20; i++) {
      if (waits) await run()
      else run()
    }
    calls += 20
  }
  return ((performance.now() - start) * 1e6) / calls
}

import { createHmac, hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebhookVerificationService } from '@hookflo/tern'
import { verify as octokitVerify } from '@octokit/webhooks-methods'
import bolt from '@slack/bolt'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { Webhook as SvixWebhook } from 'svix'
import { writeCoreByFile } from '../../../scripts/bundle-core.mjs'
import { createFastestVerify, createVerifyByHand } from '../../by-hand/verify.mjs'
import { DIALECTS, SECRET } from '../../lib/dialects.mjs'

export const FLOOR = 'fastest correct way'
export const HAND_WRITTEN = 'idiomatic, hand-written'
export const NATIVE = 'native calls alone'
export const OURS = 'ackhook'
/** Largest body for which two hashes called from JavaScript cost less than one HMAC. */
const TWO_HASHES_UP_TO = 8192

/** Returns functions that do the same work, some of them async. Tries each one once. */
export async function createContenders(body, parse) {
  const t = Math.floor(Date.now() / 1000)
  const id = 'msg_0000000000000000000000000000'
  const headers = Object.fromEntries(
    Object.entries(DIALECTS).map(([name, sign]) => [
      name,
      { 'content-type': 'application/json', ...asReceived(sign(body, t, id)) },
    ]),
  )
  const contenders = new Map(
    Object.entries({
      ...(!parse && { [NATIVE]: nativeCalls(body) }),
      ...byHand(body, headers, parse),
      ...(await ours(body, headers, parse)),
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

/** Copies each header into a flat string, as a server reads it: V8 reads characters of a concatenated string slowly. */
function asReceived(headers) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Buffer.from(String(value)).toString('latin1')]),
  )
}

/**
 * Returns the floor for any verification in JavaScript: only the calls into OpenSSL, on prepared bytes, with nothing read,
 * copied or compared.
 */
function nativeCalls(body) {
  if (body.length > TWO_HASHES_UP_TO) {
    return () => createHmac('sha256', SECRET).update(body).digest('latin1').length === 32
  }
  const inner = Buffer.alloc(64 + 11 + body.length)
  const outer = Buffer.alloc(96)
  return () => hash('sha256', inner, 'latin1').length + hash('sha256', outer, 'latin1').length === 64
}

function byHand(body, headers, parse) {
  const header = headers.service['x-service-signature']
  const idiomatic = createVerifyByHand(SECRET)
  const fastest = createFastestVerify(SECRET)
  const after = ok => (ok && parse ? JSON.parse(body.toString()) : ok)
  return {
    [FLOOR]: () => after(fastest(header, body)),
    [HAND_WRITTEN]: () => after(idiomatic(header, body)),
  }
}

async function ours(body, headers, parse) {
  const { resolveContract, createDecoder, createSecrets, createVerifier } = await steps()
  const contract = resolveContract()
  const verify = createVerifier({
    contract,
    secrets: createSecrets(SECRET, console),
    toleranceMs: 300_000,
    clock: Date.now,
  })
  const decode = createDecoder(contract, {})
  const run = async () =>
    (await verify(headers.service, body, undefined)) === undefined ? !parse || decode(body) : false
  return { [OURS]: run }
}

let loaded
/** Returns the measured steps of core, none of which it exports. */
function steps() {
  loaded ??= loadSteps()
  return loaded
}

async function loadSteps() {
  // Avoids `scratchFolder`, whose imports make charCodeAt slow for all contenders.
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-bench-'))
  await writeCoreByFile(folder)
  const files = ['events/contract', 'events/decode-event', 'verify/secrets', 'verify/verify-request']
  const modules = await Promise.all(files.map(file => import(`${folder}/dist/${file}.js`)))
  rmSync(folder, { recursive: true })
  return Object.assign({}, ...modules)
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

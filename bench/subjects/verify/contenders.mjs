import { createHmac, hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verify as octokitVerify } from '@octokit/webhooks-methods'
import bolt from '@slack/bolt'
import Stripe from 'stripe'
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
export async function createContenders(body) {
  const t = Math.floor(Date.now() / 1000)
  const headers = Object.fromEntries(
    Object.entries(DIALECTS).map(([name, sign]) => [name, asReceived(sign(body, t, 'msg_0'))]),
  )
  const contenders = new Map(
    Object.entries({
      [NATIVE]: nativeCalls(body),
      ...byHand(body, headers),
      [OURS]: await ours(body, headers),
      ...peers(body, headers),
    }),
  )
  for (const [name, run] of contenders)
    if ((await run()) === false) throw new Error(`${name} refused a good request`)
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

function byHand(body, headers) {
  const header = headers.service['x-service-signature']
  const idiomatic = createVerifyByHand(SECRET)
  const fastest = createFastestVerify(SECRET)
  return { [FLOOR]: () => fastest(header, body), [HAND_WRITTEN]: () => idiomatic(header, body) }
}

async function ours(body, headers) {
  const { resolveContract, createSecrets, createVerifier } = await steps()
  const verify = createVerifier({
    contract: resolveContract(),
    secrets: createSecrets(SECRET, console),
    toleranceMs: 300_000,
    clock: Date.now,
  })
  return async () => (await verify(headers.service, body, undefined)) === undefined
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
  const files = ['events/contract', 'verify/secrets', 'verify/verify-request']
  const modules = await Promise.all(files.map(file => import(`${folder}/dist/${file}.js`)))
  rmSync(folder, { recursive: true })
  return Object.assign({}, ...modules)
}

function peers(body, headers) {
  const { signature } = new Stripe('sk_test_bench').webhooks
  const slack = {
    'x-slack-signature': headers.slack['x-slack-signature'],
    'x-slack-request-timestamp': Number(headers.slack['x-slack-request-timestamp']),
  }
  return {
    'stripe verifyHeader': () =>
      signature.verifyHeader(body, headers.stripe['stripe-signature'], SECRET, 300),
    '@octokit/webhooks-methods': () =>
      octokitVerify(SECRET, body.toString(), headers.github['x-hub-signature-256']),
    '@slack/bolt verifySlackRequest': () => {
      bolt.verifySlackRequest({ signingSecret: SECRET, body: body.toString(), headers: slack })
      return true
    },
  }
}

import { expect, it, vi } from 'vitest'
import { recordingLogger, SECRET, sign } from '../../../../test/support/receiving.ts'
import { type ContractOptions, resolveContract } from '../events/contract.ts'
import { createSecrets, type SecretSource } from './secrets.ts'
import { createVerifier } from './verify-request.ts'

const now = 1_767_225_600_000
const body = new TextEncoder().encode('{}')

function verifier(secret: SecretSource<unknown> = SECRET, contract: ContractOptions = {}, clock = () => now) {
  const secrets = createSecrets(secret, recordingLogger())
  const verify = createVerifier({
    contract: resolveContract(contract),
    secrets,
    toleranceMs: 300_000,
    clock,
  })
  return {
    verify: (value?: string) =>
      verify(value === undefined ? {} : { 'x-service-signature': value }, body, 'context'),
  }
}
const NO_DIGITS = { code: 'signature_malformed', detail: 'a v1 that is not 64 hexadecimal digits' }
const good = (t: string | number = now / 1000, secret = SECRET) => sign(body, { secret, timestamp: t })

it('finds nothing wrong with a genuine, fresh request', async () => {
  expect(await verifier().verify(good())).toBeUndefined()
  expect(await verifier(async () => SECRET).verify(good())).toBeUndefined()
})

it('requests no secret before the header’s form is right', async () => {
  const secret = vi.fn(() => SECRET)
  const { verify } = verifier(secret)
  expect(await verify()).toMatchObject({ code: 'signature_missing', detail: 'no header x-service-signature' })
  expect(await verify('')).toMatchObject({ code: 'signature_malformed' })
  expect(await verify('v1=x')).toMatchObject({ code: 'signature_malformed' })
  expect(await verify(`t=${now / 1000},v1=${'z'.repeat(64)}`)).toMatchObject(NO_DIGITS)
  expect(await verify(good('abc'))).toMatchObject({
    code: 'timestamp_malformed',
    detail: 't is not a timestamp in any accepted form',
  })
  expect(secret).not.toHaveBeenCalled()
  await verify(good())
  expect(secret.mock.calls).toEqual([['context']])
})

it('names a body that a client has made of bytes, and no other', async () => {
  const verify = (text: string) => {
    const contract = resolveContract({})
    const secrets = createSecrets(SECRET as SecretSource<unknown>, recordingLogger())
    const parts = { contract, secrets, toleranceMs: 300_000, clock: () => now }
    return createVerifier(parts)({ 'x-service-signature': good() }, new TextEncoder().encode(text), 'context')
  }
  const bytes = new TextEncoder().encode('{"id":"evt_1"}')
  for (const text of [JSON.stringify(bytes), JSON.stringify(Buffer.from(bytes)), String(bytes)])
    expect([text, await verify(text)]).toMatchObject([
      text,
      { code: 'signature_mismatch', detail: expect.stringContaining('.send(body.toString()) in supertest') },
    ])
  for (const text of ['{"id":"evt_1"}', '{"0x":1}', '{"type":"Buffer"}', '12', '{', '1'])
    expect([text, await verify(text)]).toMatchObject([
      text,
      { detail: expect.stringContaining('wrong secret, or not the bytes that were signed') },
    ])
})

it('reports a malformed signature as malformed, not as a mismatch', async () => {
  const { verify } = verifier()
  expect(await verify(`t=${now / 1000},v1=${'z'.repeat(64)}`)).toMatchObject(NO_DIGITS)
  expect(await verify(`t=${now / 1000},v1=${'0'.repeat(64)}`)).toMatchObject({ code: 'signature_mismatch' })
})

it('reads the clock only if the signature holds', async () => {
  const clock = vi.fn(() => now)
  expect(await verifier(SECRET, {}, clock).verify(good(now / 1000, 'somebody else’s secret'))).toMatchObject({
    code: 'signature_mismatch',
  })
  expect(
    await verifier(async () => SECRET, {}, clock).verify(good(1_000_000_000, 'somebody else’s secret')),
  ).toMatchObject({
    code: 'signature_mismatch',
  })
  expect(clock).not.toHaveBeenCalled()
  expect(await verifier(SECRET, {}, clock).verify(good(now / 1000 - 301))).toMatchObject({
    code: 'timestamp_too_old',
  })
  expect(clock).toHaveBeenCalledTimes(1)
})

it('passes on the reason for a missing secret', async () => {
  expect(await verifier(() => null).verify(good())).toMatchObject({ code: 'secret_unknown' })
  expect(await verifier(async () => null).verify(good())).toMatchObject({ code: 'secret_unknown' })
})

it('names the unit that the contract pins', async () => {
  const { verify } = verifier(SECRET, { timestampUnit: 'milliseconds' })
  expect(await verify(good())).toMatchObject({
    code: 'timestamp_malformed',
    detail: 't is not a timestamp in milliseconds',
  })
  expect(await verify(good(now))).toBeUndefined()
})

it('asks whether an empty body was read before', async () => {
  const secrets = createSecrets(SECRET, recordingLogger())
  const verify = createVerifier({
    contract: resolveContract(),
    secrets,
    toleranceMs: 300_000,
    clock: () => now,
  })
  expect(await verify({ 'x-service-signature': good() }, new Uint8Array(), 'context')).toMatchObject({
    code: 'signature_mismatch',
    detail: 'no signature matches, and the body is empty: was it read before?',
  })
})

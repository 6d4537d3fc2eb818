import { afterEach, describe, expect, it, vi } from 'vitest'
import { platform } from '#platform'
import { recordingLogger } from '../../../../test/support/receiving.ts'
import { ConfigurationError } from '../errors/errors.ts'
import { Refusal } from '../errors/refusal.ts'
import type { Mac } from '../platform/platform.ts'
import { createSecrets as prepare, type SecretSource } from './secrets.ts'

const A = 'a secret of 17 by'
const B = 'another secret of some bytes'
const body = new Uint8Array(3)
/** Returns the secrets of one request, from any kind of source. */
function createSecrets<Context>(...parameters: Parameters<typeof prepare<Context>>) {
  const secrets = prepare(...parameters)
  return (context: Context) => (typeof secrets === 'function' ? secrets(context) : secrets)
}
const create = (source: unknown) => createSecrets(source as SecretSource<unknown>, recordingLogger())
const signs = async (macs: readonly Mac[] | Refusal, ...secrets: string[]) => {
  if (macs instanceof Refusal) throw new Error(macs.code)
  const digests = await Promise.all(macs.map(mac => mac('1', body)))
  const expected = await Promise.all(
    secrets.map(async secret => ((await create(secret)(0)) as Mac[])[0]?.('1', body)),
  )
  expect(digests).toEqual(expected)
}

describe('secrets that are known at construction', () => {
  it('are one or a list', async () => {
    await signs(await create(A)(undefined), A)
    await signs(await create([A, B])(undefined), A, B)
  })

  it('are prepared once', () => {
    const macs = create([A, B])
    expect(macs(1)).toBe(macs(2))
  })

  it.each([
    undefined,
    null,
    '',
    '   ',
    '\n\t',
    ' '.repeat(20),
    [],
    [''],
    [A, ''],
    [A, undefined],
    'fifteen bytes !',
    123,
    {},
    [[A]],
    Array(101).fill(A),
  ])('are refused when they are %j', source => {
    expect(() => create(source)).toThrow(ConfigurationError)
    expect(() => create(source)).toThrow(expect.objectContaining({ option: 'secret' }))
  })

  it('are never in the error', () => {
    expect(() => create('topsecret')).toThrow(
      "Option 'secret': must be at least 16 bytes long: a shorter one can be guessed",
    )
    expect(() => create(undefined)).toThrow('set the environment variable')
    expect(() => create('  ')).toThrow('must not be empty or blank')
    expect(() => create([])).toThrow('got an empty list')
    expect(() => create(Array(101).fill(A))).toThrow('at most 100 secrets; got 101')
    expect(() => create(7)).toThrow('must be a string; got number')
  })

  it('count bytes and not characters', () => {
    expect(() => create('é'.repeat(8))).not.toThrow()
    expect(() => create('é'.repeat(7))).toThrow(ConfigurationError)
    expect(() => create('x'.repeat(16))).not.toThrow()
    expect(() => create(Array(100).fill(A))).not.toThrow()
  })

  it('are used unchanged if white space surrounds them, with a warning that does not show them', async () => {
    const logger = recordingLogger()
    const macs = createSecrets([A, `${B}\n`], logger)
    expect(logger.lines.map(line => [line.level, line.fields])).toEqual([['warn', { code: 'secret_padded' }]])
    expect(JSON.stringify(logger.lines)).not.toContain(B)
    await signs(await macs(undefined), A, `${B}\n`)
    createSecrets(A, logger)
    expect(logger.lines).toHaveLength(1)
    createSecrets(`"${A}"`, logger)
    expect(logger.lines[1]?.message).toContain('begins and ends with quotation marks')
  })
})

describe('a secret that the documentation prints', () => {
  const PRINTED = 'only-for-trying-it-out'
  const OWN = 'whsec_of_one_project_only'
  const trial = (value: boolean | undefined) => vi.spyOn(platform, 'isTrial').mockReturnValue(value)
  afterEach(() => void vi.restoreAllMocks())

  it.each([
    PRINTED,
    [A, PRINTED],
    `"${PRINTED}"`,
    `'${PRINTED}'`,
    ` ${PRINTED}\n`,
    `whsec_${PRINTED}`,
    Buffer.from(PRINTED).toString('hex'),
    Buffer.from(PRINTED).toString('hex').toUpperCase(),
    Buffer.from(PRINTED).toString('base64'),
    Buffer.from(`${PRINTED}\n`).toString('base64'),
    Buffer.from(PRINTED).toString('base64url'),
    `whsec_${Buffer.from(PRINTED).toString('base64')}`,
    'a-secret-of-at-least-16-bytes',
  ])('is refused at the start, as %j', source => {
    trial(false)
    expect(() => create(source)).toThrow(expect.objectContaining({ option: 'secret' }))
    expect(() => create(source)).toThrow('is printed in the documentation, so anyone can sign with it')
    expect(() => create(source)).not.toThrow(PRINTED)
  })

  it('is refused with a 500 when a function returns it, for that request only', async () => {
    trial(false)
    const known: Record<string, string | string[]> = { a: PRINTED, b: [OWN, PRINTED], c: OWN }
    const secrets = create((context: string) => known[context]) as (context: unknown) => Promise<unknown>
    for (const workspace of ['a', 'b', 'a'])
      expect(await secrets(workspace)).toMatchObject({
        code: 'secret_unavailable',
        detail: expect.stringContaining("the secret function's result must be a secret of your own"),
      })
    expect(await secrets('c')).toHaveLength(1)
  })

  it('is accepted from a developer or a test, without a word', async () => {
    trial(true)
    const logger = recordingLogger()
    await signs(await createSecrets(PRINTED, logger)(undefined), PRINTED)
    await signs(await createSecrets(() => PRINTED, logger)(undefined), PRINTED)
    expect(logger.lines).toEqual([])
  })

  it('is accepted with one warning where nothing tells who runs the process', async () => {
    trial(undefined)
    const logger = recordingLogger()
    const secrets = createSecrets((name: string) => (name === 'own' ? OWN : PRINTED), logger)
    for (const name of ['own', 'a', 'b']) await secrets(name)
    expect(logger.lines).toEqual([
      expect.objectContaining({ level: 'warn', fields: { code: 'secret_printed' } }),
    ])
    expect(logger.lines[0]?.message).not.toContain(PRINTED)
  })

  it('is no part of another one', () => {
    trial(false)
    for (const secret of [
      OWN,
      `${PRINTED}-2`,
      `my-${PRINTED}`,
      'this is no base64: ===',
      '0123456789abcdef0123',
      'e'.repeat(17),
    ])
      expect(() => create(secret)).not.toThrow()
  })
})

describe('secrets by request', () => {
  it('come from the context, synchronously or not', async () => {
    const known: Record<string, string | string[]> = { a: A, b: [A, B] }
    const now = createSecrets((context: string) => known[context] as string, recordingLogger())
    await signs((await now('a')) as Mac[], A)
    await signs((await now('b')) as Mac[], A, B)
    const later = createSecrets(async (context: string) => known[context] as string, recordingLogger())
    await signs(await later('b'), A, B)
  })

  it('are prepared once for each secret', async () => {
    const macs = create(() => A)
    const first = (await macs(1)) as Mac[]
    expect(await macs(2)).toEqual(first)
    expect(((await macs(2)) as Mac[])[0]).toBe(first[0])
  })

  it('are kept prepared in a bounded number, and prepared again after that', async () => {
    const macs = createSecrets((workspace: number) => `${A} of workspace ${workspace}`, recordingLogger())
    const [first] = (await macs(0)) as Mac[]
    for (let workspace = 1; workspace < 1000; workspace++) await macs(workspace)
    expect(((await macs(0)) as Mac[])[0]).toBe(first)
    for (let workspace = 1000; workspace < 2000; workspace++) await macs(workspace)
    const again = await macs(0)
    expect((again as Mac[])[0]).not.toBe(first)
    await signs(again, `${A} of workspace 0`)
  })

  it('are a 401 for an unknown workspace', async () => {
    expect(await create(() => null)(0)).toMatchObject({ code: 'secret_unknown' })
    expect(await create(async () => null)(0)).toMatchObject({ code: 'secret_unknown' })
  })

  it.each([undefined, '', '  ', 'short', [], [A, ''], 7, {}])(
    'are a 500 if the result is %j',
    async answer => {
      const refused = {
        code: 'secret_unavailable',
        detail: expect.stringContaining("the secret function's result must"),
      }
      expect(await create(() => answer)(0)).toMatchObject(refused)
      expect(await create(async () => answer)(0)).toMatchObject(refused)
    },
  )

  it('are a 500 with the cause if the function fails', async () => {
    const cause = new Error('vault')
    const failing = () => {
      throw cause
    }
    const refused = { code: 'secret_unavailable', detail: 'the secret function failed', cause }
    expect(await create(failing)(0)).toMatchObject(refused)
    expect(await create(async () => failing())(0)).toMatchObject(refused)
  })

  it('are a 500 if the function does not settle in time; a synchronous one sets no timer', async () => {
    vi.useFakeTimers()
    const waiting = create(() => new Promise(() => {}))(0)
    await vi.advanceTimersByTimeAsync(5000)
    expect(await waiting).toMatchObject({
      code: 'secret_unavailable',
      cause: { message: 'the secret function did not respond within 5000 ms' },
    })
    const setTimer = vi.spyOn(globalThis, 'setTimeout')
    const clearTimer = vi.spyOn(globalThis, 'clearTimeout')
    // Other tests of this process may still set timers of their own.
    const limits = () => setTimer.mock.results.filter((_, n) => (setTimer.mock.calls[n]?.[1] ?? 0) >= 4999)
    await create(() => A)(0)
    expect(limits()).toEqual([])
    await create(async () => A)(0)
    const [limit, ...more] = limits()
    expect(more).toEqual([])
    expect(clearTimer).toHaveBeenCalledWith(limit?.value)
    vi.restoreAllMocks()
    vi.useRealTimers()
  })

  it('may be a thenable with only then', async () => {
    const thenable = Object.fromEntries([['then', (use: (secret: string) => void) => use(A)]])
    await signs(await create(() => thenable)(0), A)
  })

  it('are requested for each request', () => {
    const resolve = vi.fn(() => A)
    const macs = create(resolve)
    void macs('one')
    void macs('two')
    expect(resolve.mock.calls).toEqual([['one'], ['two']])
  })
})

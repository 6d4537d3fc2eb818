import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { recordingLogger } from '../../../../test/support/receiving.ts'
import { Refusal } from '../errors/refusal.ts'
import { FailureLog } from './failure-log.ts'

const SEE = ' See https://github.com/ackhook/ackhook/blob/main/docs/errors.md#refused'
const DOWN =
  "The inbox or its store failed in 'claim'. Check its server or disk: err has the cause. Until it works, deliveries may be refused, and events wait or run again."

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function logging(fullness: () => string | undefined | Promise<string | undefined> = () => '') {
  const logger = recordingLogger()
  return { log: new FailureLog(logger, fullness), lines: logger.lines }
}

describe('a refusal', () => {
  it('is explained by its own detail or its code, with a link to the fix', () => {
    const { log, lines } = logging(() => ' 9 events wait or run.')
    const cause = new Error('down')
    log.refused(new Refusal('signature_mismatch', { detail: 'no signature matches' }))
    log.refused(new Refusal('capacity_exceeded'))
    log.refused(new Refusal('secret_unavailable', { cause }))
    log.refused(new Refusal('method_not_allowed', { detail: 'GET' }))
    log.refused(new Refusal('signature_mismatch', { detail: 'is it right?', level: 'error' }))
    expect(lines).toEqual([
      {
        level: 'warn',
        fields: { code: 'signature_mismatch', status: 401 },
        message: `Webhook refused with 401 signature_mismatch: no signature matches.${SEE}`,
      },
      {
        level: 'warn',
        fields: { code: 'capacity_exceeded', status: 503 },
        message: `Webhook refused with 503 capacity_exceeded: Too many events are waiting; send this one again later. 9 events wait or run.${SEE}`,
      },
      {
        level: 'error',
        fields: { code: 'secret_unavailable', status: 500, err: cause },
        message: `Webhook refused with 500 secret_unavailable: The signing secret is not available.${SEE}`,
      },
      {
        level: 'info',
        fields: { code: 'method_not_allowed', status: 405 },
        message: `Webhook refused with 405 method_not_allowed: GET.${SEE}`,
      },
      {
        level: 'error',
        fields: { code: 'signature_mismatch', status: 401 },
        message: `Webhook refused with 401 signature_mismatch: is it right?${SEE}`,
      },
    ])
  })

  it('of a full inbox waits for its figures, and is logged without them if there are none', async () => {
    const { log, lines } = logging(async () => undefined)
    log.refused(new Refusal('capacity_exceeded', { detail: 'full' }))
    await vi.waitFor(() => expect(lines).toHaveLength(1))
    expect(lines[0]?.message).toBe(`Webhook refused with 503 capacity_exceeded: full.${SEE}`)
  })

  it('that comes in a flood is reported once a minute with a count, even after the flood has ended', () => {
    const { log, lines } = logging()
    const refusal = new Refusal('signature_malformed', { detail: 'no t' })
    for (let i = 0; i < 1000; i++) log.refused(refusal)
    log.refused(new Refusal('signature_missing'))
    expect(lines.map(line => line.fields['code'])).toEqual(['signature_malformed', 'signature_missing'])
    vi.advanceTimersByTime(60_000)
    expect(lines.slice(2).map(line => line.message)).toEqual([
      `Webhook refused with 401 signature_malformed (and 998 more since the last report): no t.${SEE}`,
    ])
  })
})

describe('an outage', () => {
  const error = new Error('connection refused')

  it('is one error with the causes of its first two seconds, then one line with its length and the refused deliveries', () => {
    const { log, lines } = logging()
    const closed = new Error('Connection is closed')
    log.failed('extend', closed)
    for (let i = 0; i < 135; i++) {
      log.refused(new Refusal('store_unavailable', { cause: error }))
      log.failed('claim', error)
    }
    expect(lines).toEqual([])
    vi.advanceTimersByTime(2000)
    for (let i = 0; i < 10; i++) log.failed('extend', error)
    expect(lines).toEqual([
      {
        level: 'error',
        fields: {
          code: 'store_down',
          operation: 'extend',
          err: new AggregateError([closed, error], 'Error: Connection is closed; Error: connection refused'),
        },
        message: DOWN.replace('claim', 'extend'),
      },
    ])
    log.worked(performance.now())
    vi.advanceTimersByTime(26_000)
    log.worked(performance.now())
    log.worked(performance.now())
    expect(lines.slice(1)).toEqual([
      {
        level: 'warn',
        fields: { code: 'store_up', seconds: 28, refused: 135 },
        message: 'The inbox or its store works again after 28 s; 135 deliveries were refused.',
      },
    ])
  })

  it('begins with a refusal if the inbox observes nothing', () => {
    const { log, lines } = logging()
    log.refused(new Refusal('inbox_unavailable', { cause: error }))
    vi.advanceTimersByTime(2000)
    expect(lines).toMatchObject([
      { level: 'error', fields: { code: 'store_down', operation: 'accept', err: error } },
    ])
  })

  it('does not begin with a delivery that only waited for a start, which has no cause yet', () => {
    const { log, lines } = logging()
    log.refused(new Refusal('inbox_unavailable', { detail: 'not started', cause: error }))
    expect(lines).toMatchObject([{ level: 'warn', fields: { code: 'inbox_unavailable' } }])
    log.failed('start', error)
    log.refused(new Refusal('inbox_unavailable', { detail: 'not started', cause: error }))
    expect(lines.slice(1)).toMatchObject([{ level: 'error', fields: { code: 'store_down' } }])
  })

  it('is logged again at once for each new kind of failure, of which five are told, and not for other numbers', () => {
    const { log, lines } = logging()
    const errors = [
      ['ECONNREFUSED', 30],
      ['LOADING 1', 5],
      ['LOADING 2', 5],
      ['timed out', 1],
      ['READONLY', 1],
      ['NOAUTH', 1],
      ['a sixth', 1],
    ] as const
    for (const [text, seconds] of errors) {
      for (let second = 0; second < seconds; second++) {
        log.failed('claim', new Error(text))
        vi.advanceTimersByTime(1000)
      }
    }
    const causes = lines.map(({ fields }) => (fields['err'] as Error).message)
    const all = ['ECONNREFUSED', 'LOADING 1', 'timed out', 'READONLY', 'NOAUTH'].map(text => `Error: ${text}`)
    expect(causes).toEqual(['ECONNREFUSED', ...[2, 3, 4, 5].map(count => all.slice(0, count).join('; '))])
  })

  it('of a new kind is told although the one before ended less than a minute ago', () => {
    const { log, lines } = logging()
    const end = () => {
      vi.advanceTimersByTime(3000)
      log.worked(performance.now())
    }
    log.failed('claim', new Error('ECONNREFUSED'))
    end()
    log.failed('claim', new Error('ECONNREFUSED'))
    end()
    log.failed('claim', new Error('disk full'))
    end()
    expect(lines.map(({ fields }) => (fields['err'] as Error | undefined)?.message)).toEqual([
      'ECONNREFUSED',
      undefined,
      'ECONNREFUSED',
      'Error: ECONNREFUSED; Error: disk full',
    ])
  })

  it.each([
    "READONLY You can't write against a read only replica.",
    'cannot execute INSERT in a read-only transaction',
  ])('is called a failover if a server that only reads replies: %s', text => {
    const { log, lines } = logging()
    log.failed('accept', new Error(text))
    vi.advanceTimersByTime(2000)
    expect(lines[0]?.message).toMatch(/ This looks like a failover: .+ are missing\.$/)
  })

  it('is over only after a success that began after the last failure', () => {
    const { log, lines } = logging()
    const before = performance.now()
    vi.advanceTimersByTime(10)
    log.failed('claim', error)
    log.worked(before)
    expect(lines).toEqual([])
    vi.advanceTimersByTime(10)
    log.worked(performance.now())
    expect(lines.map(({ fields }) => fields['code'])).toEqual(['store_down', 'store_up'])
  })

  it('is logged with the next failure if no timer fires, as on Workers', () => {
    vi.useRealTimers()
    vi.useFakeTimers({ toFake: ['performance'] })
    const { log, lines } = logging()
    log.failed('claim', error)
    vi.advanceTimersByTime(2001)
    expect(lines).toEqual([])
    log.failed('claim', error)
    expect(lines).toHaveLength(1)
  })

  it('that recurs is logged again, and is over only after a minute without a failure', () => {
    const { log, lines } = logging()
    for (let second = 0; second < 120; second++) {
      log.failed('claim', error)
      vi.advanceTimersByTime(1000)
      log.worked(performance.now())
    }
    expect(lines.map(({ level }) => level)).toEqual(['error', 'warn', 'error'])
    vi.advanceTimersByTime(61_000)
    log.worked(performance.now())
    expect(lines.at(-1)?.message).toContain('works again after 180 s')
  })
})

it('an id with different bytes is reported at once, and a flood of them once a minute with a count', () => {
  const { log, lines } = logging()
  for (let n = 1; n <= 300; n++) log.conflicted('it is not run again', { event: `evt_${n}`, type: 'a.b' })
  log.conflicted('it is run', { event: 'evt_dead', type: 'a.b' })
  expect(lines.map(({ message }) => message)).toEqual([
    'Event evt_1 was resent with different bytes; it is not run again.',
    'Event evt_dead was resent with different bytes; it is run.',
  ])
  vi.advanceTimersByTime(61_000)
  expect(lines.slice(2)).toEqual([
    {
      level: 'warn',
      fields: { event: 'evt_300', type: 'a.b' },
      message:
        'Event evt_300 was resent with different bytes (and 298 more since the last report); it is not run again.',
    },
  ])
})

describe('a lost lease', () => {
  it('is logged at once, and a flood of them once a minute with a count', () => {
    const { log, lines } = logging()
    for (let n = 1; n <= 40; n++) log.leaseLost({ id: `evt_${n}`, type: 'a.b' })
    vi.advanceTimersByTime(60_000)
    expect(lines.map(({ fields }) => fields)).toEqual(
      ['evt_1', 'evt_40'].map(event => ({ code: 'lease_lost', event, type: 'a.b' })),
    )
    expect(lines[0]?.message).toMatch(
      /it may run twice\. No failure of the inbox or its store is known\. Perhaps/,
    )
    expect(lines[1]?.message).toContain('(and 38 more since the last report)')
  })

  it('names the failure of the inbox that caused it, or one that has just ended', () => {
    const { log, lines } = logging()
    log.failed('extend', new Error('ECONNRESET'))
    log.leaseLost({ id: 'evt_1', type: 'a.b' })
    expect(lines.at(-1)?.message).toMatch(/The inbox or its store fails: Error: ECONNRESET\.$/)
    vi.advanceTimersByTime(61_000)
    log.worked(performance.now())
    log.leaseLost({ id: 'evt_2', type: 'a.b' })
    expect(lines.at(-1)?.message).toMatch(/The inbox or its store had failed shortly before\.$/)
  })
})

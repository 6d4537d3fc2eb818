import { runInNewContext } from 'node:vm'
import { createReceiver, type Observer, RetryAfterError } from '@ackhook/core'
import type { DataPoint, Histogram } from '@opentelemetry/sdk-metrics'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { describe, expect, it, vi } from 'vitest'
import {
  countOf,
  handle,
  operation,
  pointOf,
  secret,
  setUp,
  silent,
  useContextManager,
} from '../test/telemetry.ts'
import { opentelemetry } from './opentelemetry.ts'

const SECRET_DATA = 'payload that must never leave'

useContextManager()

describe('spans', () => {
  it('cover the acknowledgement and the handlers, and the second links to the first', async () => {
    const { receiver, deliver, spansOf } = setUp()
    receiver.on('conversation.resolved', () => {})
    await deliver('evt_1')
    await receiver.close()

    const [received, processed] = [spansOf('accept')[0], spansOf('process')[0]]
    expect(received).toMatchObject({ name: 'accept conversation.resolved', kind: 0 })
    expect(received?.attributes).toEqual({
      'messaging.system': 'webhook',
      'messaging.operation.name': 'accept',
      'messaging.destination.name': 'conversation.resolved',
      'messaging.message.id': 'evt_1',
      'ackhook.code': 'accepted',
    })
    expect(processed).toMatchObject({ name: 'process conversation.resolved', kind: 4 })
    expect(processed?.attributes).toMatchObject({
      'messaging.operation.type': 'process',
      'messaging.message.id': 'evt_1',
      'ackhook.attempt': 1,
    })
    expect(processed?.links[0]?.context.spanId).toBe(received?.spanContext().spanId)
    expect(processed?.status.code).toBe(0)
  })

  it('of a request last as long as the acknowledgement', async () => {
    const { receiver, deliver, spansOf, observations } = setUp()
    await deliver('evt_1')
    await receiver.close()

    const accepted = observations.find(one => one.kind === 'accepted')
    expect(milliseconds(spansOf('accept')[0])).toBeCloseTo(accepted?.durationMs ?? -1, 0)
  })

  it('of a request are children of the active span', async () => {
    const { receiver, deliver, spansOf, tracer } = setUp()
    await tracer.startActiveSpan('POST /webhooks', async span => {
      await deliver('evt_1')
      span.end()
      expect(spansOf('accept')[0]?.parentSpanContext?.spanId).toBe(span.spanContext().spanId)
    })
    await receiver.close()
    expect(spansOf('process')[0]?.parentSpanContext).toBeUndefined()
  })

  it('name the type of an error from another realm', async () => {
    const { receiver, deliver, spansOf } = setUp({ retry: { attempts: 1 } })
    receiver.on('conversation.resolved', () => {
      throw runInNewContext("new RangeError('of another realm')")
    })
    receiver.onError(() => {})
    receiver.onDeadLetter(() => {})
    await deliver('evt_1')
    await receiver.close()
    expect(spansOf('process').map(span => span.attributes['error.type'])).toEqual(['RangeError'])
  })

  it('cover each attempt, with the type of the error but not its message', async () => {
    const { receiver, deliver, spansOf } = setUp({ retry: { attempts: 3, minDelay: '1ms' } })
    receiver.on('conversation.resolved', (_event, { attempt }) => {
      if (attempt === 1) throw new TypeError(SECRET_DATA)
      if (attempt === 2) throw new RetryAfterError(SECRET_DATA, '0s')
      throw SECRET_DATA
    })
    receiver.onError(() => {})
    receiver.onDeadLetter(() => {})
    await deliver('evt_1')
    await vi.waitFor(() => expect(spansOf('process')).toHaveLength(3))
    await receiver.close()

    const spans = spansOf('process')
    expect(spans.map(span => span.attributes['error.type'])).toEqual(['TypeError', 'retry_after', '_OTHER'])
    expect(spans.map(span => span.status)).toEqual([
      { code: 2, message: 'TypeError' },
      { code: 2, message: 'retry_after' },
      { code: 2, message: '_OTHER' },
    ])
    expect(spans.map(span => span.attributes['ackhook.dead_lettered'])).toEqual([undefined, undefined, true])
    const origin = spansOf('accept')[0]?.spanContext().spanId
    expect(spans.map(span => span.links[0]?.context.spanId)).toEqual([origin, origin, origin])
  })

  it('name the actual reason of a refusal, as an error only for 5xx', async () => {
    const { receiver, deliver, spansOf } = setUp()
    await deliver('evt_1', { secret: 'a-secret-that-was-guessed' })
    await receiver.close()
    await deliver('evt_2')

    const [forged, draining] = spansOf('accept')
    expect(forged).toMatchObject({ name: 'accept', status: { code: 0 } })
    expect(forged?.attributes).toMatchObject({
      'error.type': 'signature_mismatch',
      'http.response.status_code': 401,
    })
    expect(forged?.attributes['messaging.message.id']).toBeUndefined()
    expect(draining).toMatchObject({ status: { code: 2, message: 'draining' } })
  })

  it('mark duplicates and conflicts', async () => {
    const { receiver, deliver, spansOf } = setUp()
    await deliver('evt_1')
    await deliver('evt_1')
    await deliver('evt_1', { data: { other: true } })
    await receiver.close()

    const outcome = spansOf('accept').map(one => [
      one.attributes['ackhook.code'],
      one.attributes['ackhook.conflict'],
    ])
    expect(outcome).toEqual([
      ['accepted', undefined],
      ['duplicate', false],
      ['duplicate', true],
    ])
  })

  it('name the namespace', async () => {
    const { receiver, deliver, spansOf } = setUp({ namespace: 'workspace-7' })
    await deliver('evt_1')
    await receiver.close()
    expect(spansOf('accept')[0]?.attributes['ackhook.namespace']).toBe('workspace-7')
    expect(spansOf('process')[0]?.attributes['ackhook.namespace']).toBe('workspace-7')
  })

  it('of a traced handler are children of its attempt, even across waits', async () => {
    const { receiver, deliver, telemetry, spansOf, tracer, exporter } = setUp()
    receiver.on(
      'conversation.resolved',
      telemetry.traced(async event => {
        await new Promise(resolve => setImmediate(resolve))
        tracer.startSpan(`work of ${event.id}`).end()
      }),
    )
    await Promise.all([deliver('evt_1'), deliver('evt_2')])
    await receiver.close()

    for (const id of ['evt_1', 'evt_2']) {
      const work = exporter.getFinishedSpans().find(span => span.name === `work of ${id}`)
      const attempt = spansOf('process').find(span => span.attributes['messaging.message.id'] === id)
      expect(work?.parentSpanContext?.spanId).toBe(attempt?.spanContext().spanId)
    }
  })

  it('do not change a traced handler when nothing observes', async () => {
    const { telemetry } = setUp()
    const handler = telemetry.traced((event: { readonly id: string }) => `handled ${event.id}`)
    const signal = new AbortController().signal
    expect(
      handler(
        { id: 'evt_1' },
        { attempt: 1, namespace: '', receivedAt: 0, rawBody: new Uint8Array(), signal },
      ),
    ).toBe('handled evt_1')
  })
})

describe('metrics', () => {
  it('count and time acknowledgements, handlers, duplicates and refusals', async () => {
    const { receiver, deliver, collect } = setUp({ retry: { attempts: 2, minDelay: '1ms' } })
    receiver.on('conversation.resolved', event => {
      if (event.data.resolved_by === 'nobody') throw new TypeError('no')
    })
    receiver.onError(() => {})
    receiver.onDeadLetter(() => {})
    await deliver('evt_1')
    await deliver('evt_1')
    await deliver('evt_2', { secret: 'a-secret-that-was-guessed' })
    await deliver('evt_3', { data: { resolved_by: 'nobody' } })
    await receiver.close()

    const metrics = await collect()
    const resolved = { 'messaging.destination.name': 'conversation.resolved' }
    expect(metrics('ackhook.acknowledgement.duration').map(countOf)).toEqual([
      [resolved, 3],
      [{ 'error.type': 'signature_mismatch' }, 1],
    ])
    expect(metrics('messaging.client.consumed.messages').map(pointOf)).toEqual([
      [{ ...operation('accept'), ...resolved }, 2],
    ])
    const processed = metrics('messaging.process.duration').map(countOf)
    expect(processed).toHaveLength(2)
    // Both attempts run in one turn, and either may end first.
    expect(processed).toEqual(
      expect.arrayContaining([
        [{ ...operation('process'), ...resolved }, 1],
        [{ ...operation('process'), ...resolved, 'error.type': 'TypeError' }, 2],
      ]),
    )
    expect(metrics('ackhook.duplicates').map(pointOf)).toEqual([
      [{ ...resolved, 'ackhook.conflict': false }, 1],
    ])
    const refused = metrics('ackhook.rejections').filter(({ value }) => value !== 0)
    expect(metrics('ackhook.verified').map(pointOf)).toEqual([[{}, 3]])
    expect(refused.map(pointOf)).toEqual([
      [{ 'error.type': 'signature_mismatch', 'http.response.status_code': 401 }, 1],
    ])
    expect(metrics('ackhook.dead_lettered').map(pointOf)).toEqual([
      [{ ...resolved, 'error.type': 'TypeError' }, 1],
    ])
  })

  it('measure the seconds from created_at until an event was handled', async () => {
    const { receiver, deliver, collect } = setUp()
    await deliver('evt_1', { createdAt: new Date(Date.now() - 90_000).toISOString() })
    await deliver('evt_2', { createdAt: 'no instant' })
    await receiver.close()

    const [lag] = (await collect())('ackhook.lag') as DataPoint<Histogram>[]
    expect(lag?.value.count).toBe(1)
    expect(lag?.value.sum).toBeGreaterThanOrEqual(90)
    expect(lag?.value.sum).toBeLessThan(120)
  })

  it('report pending, active and dead events of a watched receiver until it is unwatched', async () => {
    const { receiver, deliver, telemetry, collect } = setUp({ retry: { attempts: 1 }, concurrency: 1 })
    let finish: () => void = () => {}
    const begun = new Promise<void>(resolve => {
      receiver.on('conversation.resolved', async event => {
        if (event.id === 'evt_dead') throw new Error('no')
        resolve()
        await new Promise<void>(done => (finish = done))
      })
    })
    receiver.onDeadLetter(() => {})
    let reads = 0
    const counted = { stats: () => receiver.stats().finally(() => reads++) }
    telemetry.watch(counted, { attributes: { endpoint: 'first' } })
    const stop = telemetry.watch(counted, { attributes: { endpoint: 'a' } })
    await deliver('evt_dead')
    await deliver('evt_running')
    await deliver('evt_waiting')
    await begun

    const during = await collect()
    expect(during('ackhook.pending').map(pointOf)).toEqual([[{ endpoint: 'a' }, 1]])
    expect(during('ackhook.active').map(pointOf)).toEqual([[{ endpoint: 'a' }, 1]])
    expect(during('ackhook.dead').map(pointOf)).toEqual([[{ endpoint: 'a' }, 1]])
    expect(during('ackhook.oldest_pending')[0]?.value).toBeGreaterThan(0)

    stop()
    await collect()
    expect(reads).toBe(1)
    finish()
    await receiver.close({ timeout: '100ms' })
  })

  it('count dead letters that were run again or deleted, without saying by whom', async () => {
    const { telemetry, collect } = setUp()
    const about = { type: 'a.b', namespace: '', by: 'anna' }
    telemetry({ kind: 'redriven', id: 'evt_1', ...about })
    telemetry({ kind: 'redriven', id: 'evt_2', ...about })
    telemetry({ kind: 'discarded', id: 'evt_3', ...about })
    const metrics = await collect()
    const ofType = { 'messaging.destination.name': 'a.b' }
    expect(metrics('ackhook.redriven').map(pointOf)).toEqual([[ofType, 2]])
    expect(metrics('ackhook.discarded').map(pointOf)).toEqual([[ofType, 1]])
  })

  it('count acknowledged events that were deleted, by cause', async () => {
    const { telemetry, collect } = setUp()
    telemetry({ kind: 'dropped', cause: 'retention', dead: 3, waiting: 0 })
    telemetry({ kind: 'dropped', cause: 'erasure', dead: 1, waiting: 1 })
    expect((await collect())('ackhook.dropped').map(pointOf)).toEqual([
      [{ 'ackhook.cause': 'retention' }, 3],
      [{ 'ackhook.cause': 'erasure' }, 2],
      [{ 'ackhook.cause': 'capacity' }, 0],
      [{ 'ackhook.cause': 'no_dead_letters' }, 0],
      [{ 'ackhook.cause': 'shutdown' }, 0],
    ])
  })

  it('begin at zero where an alert counts increases, which miss the first value of a series', async () => {
    const { telemetry, collect } = setUp()
    telemetry.watch({ stats: async () => ({ pending: 0, active: 0, dead: 0, oldestPendingMs: 0 }) })
    const metrics = await collect()
    const of = (name: string, attribute: string) =>
      metrics(name).map(({ attributes, value }) => [attributes[attribute], value])
    expect(metrics('ackhook.verified').map(pointOf)).toEqual([[{}, 0]])
    expect(of('ackhook.rejections', 'error.type')).toContainEqual(['event_invalid', 0])
    expect(of('ackhook.incidents', 'ackhook.incident')).toContainEqual(['redis_emptied', 0])
    expect(metrics('ackhook.last_delivery_age')).toEqual([])
  })

  it('count what a genuine sender sent, and report how long ago', async () => {
    const { telemetry, deliver, collect } = setUp()
    await deliver('evt_1', { secret: 'a-secret-that-was-guessed' })
    expect((await collect())('ackhook.last_delivery_age')).toEqual([])
    await deliver('evt_1')
    const age = (await collect())('ackhook.last_delivery_age')[0]?.value
    expect(age).toBeGreaterThanOrEqual(0)
    expect(age).toBeLessThan(60)
    // The signature of a replay is genuine.
    telemetry({ kind: 'rejected', code: 'timestamp_too_old', status: 401, durationMs: 1 })
    telemetry({ kind: 'rejected', code: 'capacity_exceeded', status: 503, durationMs: 1 })
    telemetry({ kind: 'rejected', code: 'body_too_large', status: 413, durationMs: 1 })
    expect((await collect())('ackhook.verified')[0]?.value).toBe(3)
  })

  it('count incidents', async () => {
    const { telemetry, collect } = setUp()
    const about = { id: 'evt_1', type: 'a.b', namespace: '' }
    telemetry({ kind: 'lease_lost', ...about })
    telemetry({ kind: 'completion_lost', ...about, error: new Error(SECRET_DATA) })
    telemetry({ kind: 'store_slow', operation: 'claim', durationMs: 300 })
    telemetry({ kind: 'store_down', operation: 'claim', error: new Error(SECRET_DATA) })
    telemetry({ kind: 'notice', code: 'redis_evicts', message: 'x' })
    const counted = (await collect())('ackhook.incidents').filter(({ value }) => value !== 0)
    expect(counted.map(pointOf)).toEqual(
      ['lease_lost', 'completion_lost', 'store_slow', 'store_down', 'redis_evicts'].map(one => [
        { 'ackhook.incident': one },
        1,
      ]),
    )
  })
})

it('also calls your own observer, even one that throws', async () => {
  const { receiver, deliver, observations, spansOf } = setUp({}, () => {
    throw new Error('the observer failed')
  })
  await deliver('evt_1')
  await receiver.close()
  expect(observations.map(one => one.kind)).toEqual([
    'received',
    'accepted',
    'attempt_started',
    'unhandled',
    'completed',
  ])
  expect(spansOf('process')).toHaveLength(1)
})

it('refuses an observer that is not a function', () => {
  expect(() => opentelemetry({ observe: 'console' as never })).toThrow("Option 'observe': must be a function")
})

describe('two receivers of the same event', () => {
  /** A receiver whose handler waits for its result. */
  function atWork(made: ReturnType<typeof setUp>, observe: Observer) {
    const running: ((failed: boolean) => void)[] = []
    const lines: unknown[] = []
    const receiver = createReceiver({
      secret,
      observe,
      retry: { attempts: 1 },
      logger: { ...silent, error: fields => void lines.push(fields) },
    })
    receiver.onDeadLetter(() => {})
    receiver.on(
      '*',
      made.telemetry.traced(
        () =>
          new Promise<void>((resolve, reject) => {
            running.push(failed => (failed ? reject(new Error('no')) : resolve()))
          }),
      ),
    )
    return {
      receiver,
      lines,
      begins: () => vi.waitFor(() => expect(running).toHaveLength(1)),
      ends: (failed: boolean) => running.shift()?.(failed),
    }
  }

  it('have separate spans with an opentelemetry() each', async () => {
    const [one, two] = [setUp(), setUp()]
    const [failing, working] = [atWork(one, one.telemetry), atWork(two, two.telemetry)]
    for (const { receiver, begins } of [failing, working]) {
      await handle(receiver, 'evt_1')
      await begins()
    }
    failing.ends(true)
    working.ends(false)
    await Promise.all([failing.receiver.close(), working.receiver.close()])
    expect(one.spansOf('process').map(span => span.status.code)).toEqual([2])
    expect(two.spansOf('process').map(span => span.status.code)).toEqual([0])
  })

  it('cause one error in the log when they share an opentelemetry()', async () => {
    const made = setUp()
    const [one, two] = [atWork(made, made.telemetry), atWork(made, made.telemetry)]
    for (const id of ['evt_1', 'evt_2']) {
      for (const { receiver, begins } of [one, two]) {
        await handle(receiver, id)
        await begins()
      }
      one.ends(false)
      two.ends(false)
    }
    await Promise.all([one.receiver.close(), two.receiver.close()])
    const told = [...one.lines, ...two.lines].filter(line => (line as { err?: Error }).err)
    expect(told).toMatchObject([{ err: { message: expect.stringContaining('for each') } }])
  })

  it('cannot be watched by one opentelemetry()', () => {
    const { telemetry, receiver } = setUp()
    const other = createReceiver({ secret })
    const stop = telemetry.watch(receiver)
    telemetry.watch(receiver)
    expect(() => telemetry.watch(other)).toThrow(/one opentelemetry\(\) serves one receiver/)
    stop()
    telemetry.watch(other)
  })
})

it('does nothing and breaks nothing without an SDK', async () => {
  const telemetry = opentelemetry()
  const receiver = createReceiver({ secret, observe: telemetry, logger: silent })
  telemetry.watch(receiver)()
  receiver.on(
    'conversation.resolved',
    telemetry.traced(() => {}),
  )
  expect((await handle(receiver, 'evt_1')).status).toBe(202)
  expect(await receiver.close()).toEqual({ lost: 0 })
})

it('never exports event data or error messages', async () => {
  const { receiver, deliver, collect, exporter, metricExporter } = setUp({ retry: { attempts: 1 } })
  receiver.on('*', () => {
    throw new Error(SECRET_DATA)
  })
  receiver.onDeadLetter(() => {})
  await deliver('evt_1', { data: { text: SECRET_DATA } })
  await deliver('evt_1', { data: { text: `${SECRET_DATA} again` } })
  await deliver('evt_2', { data: { text: SECRET_DATA }, secret: 'a-secret-that-was-guessed' })
  await receiver.close()
  await collect()

  const exported = exporter
    .getFinishedSpans()
    .map(({ name, attributes, status, events }) => ({ name, attributes, status, events }))
  expect(exported.length).toBeGreaterThan(3)
  expect(JSON.stringify(exported)).not.toContain(SECRET_DATA)
  expect(JSON.stringify(metricExporter.getMetrics())).not.toContain(SECRET_DATA)
})

it('refuses a misspelled option', () => {
  expect(() => opentelemetry({ tracer: 1 } as never)).toThrow(expect.objectContaining({ option: 'tracer' }))
  expect(() => opentelemetry({ meterprovider: 1 } as never)).toThrow("did you mean 'meterProvider'?")
  const { telemetry, receiver } = { telemetry: opentelemetry(), receiver: createReceiver({ secret }) }
  expect(() => telemetry.watch(receiver, { attribute: {} } as never)).toThrow("did you mean 'attributes'?")
})

function milliseconds(span: ReadableSpan | undefined): number {
  const [seconds, nanoseconds] = span?.duration ?? [-1, 0]
  return seconds * 1000 + nanoseconds / 1e6
}

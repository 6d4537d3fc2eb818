import { NonRetryableError } from '@ackhook/core'
import { context, trace } from '@opentelemetry/api'
import { AlwaysOffSampler, AlwaysOnSampler, ParentBasedSampler } from '@opentelemetry/sdk-trace-base'
import { describe, expect, it } from 'vitest'
import { handle, parentBased, setUp, useContextManager } from '../test/telemetry.ts'
import { opentelemetry } from './opentelemetry.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const sampled = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'vendor=1' }
const unsampled = { traceparent: `00-${TRACE}-${SPAN}-00` }
const CHILD = { parent: 'child' } as const

useContextManager()

describe('a process span', () => {
  it("links to the request's trace, even over retries", async () => {
    const { receiver, deliver, spansOf } = setUp({ retry: { attempts: 2, minDelay: '1ms' } })
    receiver.on('*', () => {
      throw new Error('no')
    })
    receiver.onError(() => {}).onDeadLetter(() => {})
    await deliver('evt_1', { headers: sampled })
    await receiver.close()
    const accepted = spansOf('accept')[0]?.spanContext().spanId
    for (const span of spansOf('process')) {
      expect(span.parentSpanContext).toBeUndefined()
      expect(span.links.map(link => link.context.spanId)).toEqual([SPAN, accepted])
      expect(span.links[0]?.context).toMatchObject({ traceId: TRACE, traceFlags: 1, isRemote: true })
      expect(span.links[0]?.context.traceState?.serialize()).toBe('vendor=1')
    }
    expect(spansOf('process')).toHaveLength(2)
  })

  it("is a child of the request's trace with parent: 'child', and links to it as the conventions require", async () => {
    const { receiver, deliver, spansOf } = setUp({}, undefined, CHILD)
    await deliver('evt_1', { headers: sampled })
    await receiver.close()
    const [span] = spansOf('process')
    expect(span?.spanContext().traceId).toBe(TRACE)
    expect(span?.parentSpanContext).toMatchObject({ spanId: SPAN, isRemote: true })
    expect(span?.links[0]?.context.spanId).toBe(SPAN)
  })

  it("is a child of the accept span with parent: 'child' if the request has no trace", async () => {
    const { receiver, deliver, spansOf } = setUp({}, undefined, CHILD)
    await deliver('evt_1')
    await receiver.close()
    expect(spansOf('process')[0]?.parentSpanContext?.spanId).toBe(spansOf('accept')[0]?.spanContext().spanId)
  })

  it.each([
    'x',
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `${sampled.traceparent}, x`,
  ])('ignores the malformed traceparent %s', async traceparent => {
    const { receiver, deliver, spansOf } = setUp({}, undefined, CHILD)
    expect((await deliver('evt_1', { headers: { traceparent } })).status).toBe(202)
    await receiver.close()
    const [span] = spansOf('process')
    expect(span?.spanContext().traceId).not.toBe(TRACE)
    expect(span?.links).toHaveLength(1)
  })

  it('of a trace that was not sampled at receipt is not sampled either, as a child', async () => {
    const { receiver, deliver, spansOf } = setUp({}, undefined, { ...CHILD, sampler: parentBased })
    const handled: (string | undefined)[] = []
    receiver.on('*', () => void handled.push(trace.getActiveSpan()?.spanContext().traceId))
    await deliver('evt_1', { headers: unsampled })
    await deliver('evt_2', { headers: sampled })
    await receiver.close()
    expect(spansOf('process').map(span => span.attributes['messaging.message.id'])).toEqual(['evt_2'])
    expect(handled).toEqual([TRACE, TRACE])
  })

  it('follows the local sampling decision if a local span continues the trace', async () => {
    const sampler = new ParentBasedSampler({
      root: new AlwaysOnSampler(),
      remoteParentSampled: new AlwaysOffSampler(),
    })
    const { receiver, deliver, tracer, spansOf } = setUp({}, undefined, { ...CHILD, sampler })
    const remote = { traceId: TRACE, spanId: SPAN, traceFlags: 1, isRemote: true }
    const request = tracer.startSpan('POST /', {}, trace.setSpanContext(context.active(), remote))
    expect(request.isRecording()).toBe(false)
    await context.with(trace.setSpan(context.active(), request), () => deliver('evt_1', { headers: sampled }))
    await receiver.close()
    expect(spansOf('process')).toEqual([])
  })

  it("links to the request's active span if the sender has no trace", async () => {
    const { receiver, deliver, tracer, spansOf } = setUp()
    const request = tracer.startSpan('POST /')
    await context.with(trace.setSpan(context.active(), request), () => deliver('evt_1'))
    await receiver.close()
    expect(spansOf('process')[0]?.links[0]?.context.spanId).toBe(request.spanContext().spanId)
  })

  it("is within the request's own span if the reply waits for the handlers", async () => {
    const { receiver, deliver, tracer, spansOf } = setUp({ acknowledge: 'after-processing' })
    const request = tracer.startSpan('POST /')
    await context.with(trace.setSpan(context.active(), request), () => deliver('evt_1', { headers: sampled }))
    await receiver.close()
    const [span] = spansOf('process')
    expect(span?.parentSpanContext?.spanId).toBe(request.spanContext().spanId)
    expect(span?.links.map(link => link.context.spanId)).toEqual([SPAN])
  })

  it("is active for handlers, onUnhandled, onError and onDeadLetter, and for the receiver's logs", async () => {
    const seen: [string, string | undefined][] = []
    const see = (where: string) => void seen.push([where, trace.getActiveSpan()?.spanContext().spanId])
    const logger = { info() {}, warn: () => see('warn'), error: () => see('error') }
    const { receiver, deliver, spansOf } = setUp({ retry: { attempts: 2, minDelay: '1ms' }, logger })
    receiver.on('conversation.resolved', async () => {
      await new Promise(resolve => setImmediate(resolve))
      see('handler')
      throw new Error('no')
    })
    receiver.onUnhandled(() => see('onUnhandled'))
    receiver.onError(async () => {
      await new Promise(resolve => setImmediate(resolve))
      see('onError')
    })
    receiver.onDeadLetter(() => {
      see('onDeadLetter')
      throw new Error('logged')
    })
    await deliver('evt_1')
    await receiver.close()
    await deliver('evt_late')
    const [first, second] = spansOf('process').map(span => span.spanContext().spanId)
    expect(seen.slice(0, 5)).toEqual([
      ['handler', first],
      ['onError', first],
      ['handler', second],
      ['onDeadLetter', second],
      ['error', second],
    ])
  })

  it('covers the listeners, so that an exception can be recorded on it there', async () => {
    const { receiver, deliver, spansOf } = setUp({}, undefined)
    receiver.on('*', () => {
      throw new NonRetryableError('never')
    })
    receiver.onDeadLetter(({ error }) => trace.getActiveSpan()?.recordException(error as Error))
    await deliver('evt_1')
    await receiver.close()
    expect(spansOf('process')[0]?.events.map(({ name }) => name)).toEqual(['exception'])
  })

  it('is the span that its own handlers see when several events run together', async () => {
    const { receiver, deliver, spansOf } = setUp()
    const contexts: unknown[] = []
    receiver.on('*', () => void contexts.push(trace.getActiveSpan()?.spanContext().spanId))
    await Promise.all(['evt_1', 'evt_2'].map(id => deliver(id)))
    await receiver.close()
    expect(contexts).toEqual(spansOf('process').map(span => span.spanContext().spanId))
  })

  it('exists without a remote trace if a second observer calls this one', async () => {
    const { receiver, spansOf, telemetry } = setUp({ observe: one => telemetry(one) })
    await handle(receiver, 'evt_1', { headers: sampled })
    await receiver.close()
    expect(spansOf('process')).toHaveLength(1)
    expect(spansOf('process')[0]?.links).toHaveLength(1)
  })
})

it('names its scope with a version and a schema', async () => {
  const { receiver, deliver, spansOf, collect, scopes } = setUp()
  await deliver('evt_1')
  await receiver.close()
  await collect()
  const scope = {
    name: '@ackhook/opentelemetry',
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    schemaUrl: 'https://opentelemetry.io/schemas/1.45.0',
  }
  expect(spansOf('process')[0]?.instrumentationScope).toEqual(scope)
  expect(scopes()).toEqual([scope])
})

it.each([
  ['parent', 'parent', 'sibling'],
  ['eventType', 'eventType', 'a'],
  ['maxEventTypes', 'maxEventTypes', -1],
])('refuses a wrong %s', (_, option, value) => {
  expect(() => opentelemetry({ [option]: value } as never)).toThrow(expect.objectContaining({ option }))
})

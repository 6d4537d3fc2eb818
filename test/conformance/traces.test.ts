import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReceiver, type Inbox } from '@ackhook/core'
import { opentelemetry } from '@ackhook/opentelemetry'
import { sqliteInbox } from '@ackhook/sqlite'
import { context, trace } from '@opentelemetry/api'
import type { Span, Telemetry } from 'bullmq'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { postgresEngine, redisEngine, type TestEngine } from '../../packages/bullmq/test/engines.ts'
import { unique } from '../../packages/bullmq/test/parts.ts'
import {
  handle,
  parentBased,
  secret,
  setUp,
  silent,
  useContextManager,
} from '../../packages/opentelemetry/test/telemetry.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const headers = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'vendor=1' }

useContextManager()

/** Declares the tests with one process that receives and another that works, on inboxes from `open`. */
function itCarriesTraces(open: () => Inbox): void {
  it("another process's process span links to the request's trace", async () => {
    const { spans } = await throughInbox(open, 'link', { evt_traced: headers, evt_untraced: {} })
    const [traced, untraced] = ['evt_traced', 'evt_untraced'].map(id =>
      spans.find(span => span.attributes['messaging.message.id'] === id),
    )
    expect(traced?.parentSpanContext).toBeUndefined()
    expect(traced?.links.map(link => [link.context.traceId, link.context.spanId])).toEqual([[TRACE, SPAN]])
    expect(traced?.links[0]?.context.traceState?.serialize()).toBe('vendor=1')
    expect(untraced?.links).toEqual([])
  })

  it('a child span is part of that trace, in handlers too, and is sampled only if the trace is', async () => {
    const unsampled = { traceparent: headers.traceparent.replace(/01$/, '00') }
    const { spans, seen } = await throughInbox(open, 'child', { evt_1: headers, evt_2: unsampled })
    expect(spans.map(span => [span.spanContext().traceId, span.parentSpanContext?.spanId])).toEqual([
      [TRACE, SPAN],
    ])
    expect(seen).toEqual([TRACE, TRACE])
  })
}

async function throughInbox(
  open: () => Inbox,
  parent: 'link' | 'child',
  events: Record<string, Record<string, string>>,
) {
  const worker = setUp({ inbox: open() }, undefined, { parent, sampler: parentBased })
  const seen: (string | undefined)[] = []
  worker.receiver.on('*', () => void seen.push(trace.getActiveSpan()?.spanContext().traceId))
  const web = createReceiver({
    secret,
    inbox: open(),
    concurrency: 0,
    observe: opentelemetry(),
    logger: silent,
  })
  try {
    await worker.receiver.start()
    await web.start()
    for (const [id, headers] of Object.entries(events))
      expect((await handle(web, id, { headers })).status).toBe(202)
    await vi.waitFor(() => expect(seen).toHaveLength(2), { timeout: 20_000 })
  } finally {
    await Promise.all([web.close(), worker.receiver.close()])
  }
  return { spans: worker.spansOf('process'), seen }
}

describe('sqliteInbox', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-traces-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  let files = 0
  itCarriesTraces(() => sqliteInbox({ path: join(folder, `${Math.floor(files++ / 2)}.db`), poll: '20ms' }))
})

describe.each([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)('bullmqInbox on %s', (_, start) => {
  let engine: TestEngine
  beforeAll(async () => {
    engine = await start()
  }, 60_000)
  afterAll(() => engine.stop())

  describe.each([
    ['without BullMQ telemetry', undefined],
    ['with BullMQ telemetry', ownTelemetry()],
  ])('%s', (_, telemetry) => {
    let opened = 0
    const name = unique('traces')
    itCarriesTraces(() =>
      engine.inbox(`${name}-${Math.floor(opened++ / 2)}`, telemetry === undefined ? {} : { telemetry }),
    )
  })
})

/** Creates BullMQ's own telemetry, like `BullMQOtel`: other spans are active while it adds and processes a job. */
function ownTelemetry(): Telemetry<string> {
  const places = ['1', '2'].map(digit => ({
    traceId: digit.repeat(32),
    spanId: digit.repeat(16),
    traceFlags: 1,
  }))
  const span: Span<string> = {
    setSpanOnContext: () => 'active',
    setAttribute() {},
    setAttributes() {},
    addEvent() {},
    recordException() {},
    end() {},
  }
  return {
    tracer: { startSpan: () => span },
    contextManager: {
      with: (active, run) => {
        const place = places[active === 'active' ? 0 : 1]
        return place === undefined ? run() : context.with(trace.setSpanContext(context.active(), place), run)
      },
      active: () => 'outside',
      getMetadata: active => active,
      fromMetadata: (_, metadata) => metadata,
    },
  }
}

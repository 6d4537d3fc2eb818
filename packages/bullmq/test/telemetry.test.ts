import { AsyncLocalStorage } from 'node:async_hooks'
import type { AttemptResult } from '@ackhook/core/spi'
import { type Attributes, type Span, SpanKind, type Telemetry } from 'bullmq'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { storedQueue } from '../src/engine/form.ts'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, unique, until } from './parts.ts'

interface SeenSpan {
  readonly name: string
  readonly kind: SpanKind
  /** The span under which it began: an active one, or that of the metadata of the job. */
  readonly parent: SeenSpan | undefined
  readonly attributes: Attributes
  readonly events: { readonly name: string; readonly attributes: Attributes | undefined }[]
  isEnded: boolean
}

/** BullMQ's telemetry, as an exporter would see it. */
function recordingTelemetry() {
  const spans: SeenSpan[] = []
  const active = new AsyncLocalStorage<SeenSpan | undefined>()
  const telemetry: Telemetry<SeenSpan | undefined> = {
    tracer: {
      startSpan(name, options, parent = active.getStore()) {
        const seen: SeenSpan = {
          ...{ name, kind: options?.kind ?? SpanKind.INTERNAL, parent },
          ...{ attributes: {}, events: [], isEnded: false },
        }
        spans.push(seen)
        const span: Span<SeenSpan | undefined> = {
          setSpanOnContext: () => seen,
          setAttribute: (key, value) => void Object.assign(seen.attributes, { [key]: value }),
          setAttributes: attributes => void Object.assign(seen.attributes, attributes),
          addEvent: (event, attributes) => void seen.events.push({ name: event, attributes }),
          recordException: error => void seen.events.push({ name: String(error), attributes: undefined }),
          end: () => {
            seen.isEnded = true
          },
        }
        return span
      },
    },
    contextManager: {
      with: (context, run) => active.run(context, run),
      active: () => active.getStore(),
      getMetadata: context => String(context && spans.indexOf(context)),
      fromMetadata: (_, metadata) => spans[Number(metadata)],
    },
  }
  return { telemetry, spans, active: () => active.getStore() }
}

describe.each([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)("BullMQ's telemetry on %s", (_, start) => {
  let engine: TestEngine
  beforeAll(async () => {
    engine = await start()
  }, 60_000)
  afterAll(() => engine.stop())

  test('has a span for each attempt, which continues the trace of its job and contains the record of its end', async () => {
    const { telemetry, spans, active } = recordingTelemetry()
    const queue = unique('q')
    const inbox = engine.inbox(queue, { telemetry })
    onTestFinished(async () => void (await inbox.close(1000)))
    const results: AttemptResult[] = [
      { outcome: 'retry', delayMs: 0, error: new Error('not yet') },
      { outcome: 'postponed', delayMs: 10, routingToken: 1 },
      COMPLETED,
    ]
    const during: (SeenSpan | undefined)[] = []
    const work = async () => {
      during.push(active())
      return results.shift() ?? COMPLETED
    }
    await inbox.start(work, aPolicy())
    const delivery = aDelivery()
    await inbox.accept(delivery)
    const attempts = () => spans.filter(({ name }) => name === `process ${storedQueue(queue)}`)
    await until(() => attempts().filter(({ isEnded }) => isEnded).length === 3)
    expect(attempts()).toEqual(during)
    expect(attempts().map(({ events }) => events)).toEqual([
      [{ name: 'job failed', attributes: { 'bullmq.job.failed.reason': 'Error: not yet' } }],
      [],
      [{ name: 'job completed', attributes: undefined }],
    ])
    for (const { kind, parent, attributes } of attempts()) {
      expect(kind).toBe(SpanKind.CONSUMER)
      expect(parent?.name).toMatch(/^add|^retry|^delay/)
      expect(attributes).toMatchObject({
        'bullmq.job.id': `e-${delivery.key}`,
        'bullmq.job.name': delivery.type,
        'bullmq.queue.name': storedQueue(queue),
        'bullmq.worker.id': expect.any(String),
        'bullmq.job.processed.timestamp': expect.any(Number),
      })
    }
    const last = spans.find(({ name }) => name === `complete ${storedQueue(queue)}`)
    expect(last?.parent).toBe(attempts()[2])
  })
})

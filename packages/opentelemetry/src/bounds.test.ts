import { AckhookError } from '@ackhook/core'
import type { DataPoint } from '@opentelemetry/sdk-metrics'
import { expect, it } from 'vitest'
import { setUp } from '../test/telemetry.ts'

const DESTINATION = 'messaging.destination.name'

function completed(type: string) {
  return { kind: 'completed', id: 'e', type, namespace: '', attempt: 1, durationMs: 1, lagMs: 1 } as const
}

function failed(error: unknown) {
  return {
    kind: 'attempt_failed',
    id: 'e',
    type: 'a',
    namespace: '',
    attempt: 1,
    durationMs: 1,
    error,
  } as const
}

function valuesOf(points: DataPoint<unknown>[], attribute: string) {
  return points.map(({ attributes }) => attributes[attribute])
}

it('2,600 event types become 100 names and one for the others, also in span names', async () => {
  const { telemetry, collect, exporter } = setUp()
  for (let i = 0; i < 2600; i++) telemetry(completed(`type.${i}`))
  const metrics = await collect()
  for (const name of ['messaging.process.duration', 'ackhook.lag']) {
    const types = valuesOf(metrics(name), DESTINATION)
    expect(types).toHaveLength(101)
    expect(types).toContain('_OTHER')
    expect(types).toContain('type.99')
  }
  const late = { kind: 'attempt_started', id: 'e', type: 'type.2599', namespace: '', attempt: 1 } as const
  telemetry(late)
  telemetry(completed('type.2599'))
  const [span] = exporter.getFinishedSpans()
  expect([span?.name, span?.attributes[DESTINATION]]).toEqual(['process', 'type.2599'])
})

it('an application maps event types to its own names, and a type without one becomes _OTHER', async () => {
  const eventType = (type: string) => {
    if (type === 'thrown') throw new Error('no')
    return type === 'none' ? (undefined as never) : (type.split('.')[0] ?? type)
  }
  const { telemetry, collect } = setUp({}, undefined, { eventType, maxEventTypes: 2 })
  for (const type of ['a.1', 'a.2', 'thrown', 'none', 'b.1', 'c.1']) telemetry(completed(type))
  const points = (await collect())('ackhook.lag')
  expect(valuesOf(points, DESTINATION)).toEqual(['a', '_OTHER', 'b'])
})

it('errors become at most 50 classes and 50 codes, and no class is a sentence', async () => {
  const { telemetry, collect } = setUp()
  const named = (name: string) => Object.assign(new Error('no'), { name })
  for (let i = 0; i < 300; i++) {
    telemetry(failed(named(`Error${i}`)))
    telemetry(failed(new AckhookError(`code_${i}` as never, 'no')))
  }
  telemetry(failed(named('Anna Smith does not pay')))
  telemetry(failed(named('x'.repeat(101))))
  const types = valuesOf((await collect())('messaging.process.duration'), 'error.type')
  expect(types).toHaveLength(101)
  expect(types).toEqual(expect.arrayContaining(['Error49', 'code_49', '_OTHER']))
})

it("an inbox's notices become at most 50 incidents", async () => {
  const { telemetry, collect } = setUp()
  for (let i = 0; i < 100; i++) telemetry({ kind: 'notice', code: `code_${i}`, message: 'x' })
  const incidents = valuesOf((await collect())('ackhook.incidents'), 'ackhook.incident')
  expect(incidents.filter(one => String(one).startsWith('code_'))).toHaveLength(50)
  expect(incidents).toContain('_OTHER')
})

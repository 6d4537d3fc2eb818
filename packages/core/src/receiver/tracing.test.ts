import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, it, vi } from 'vitest'
import { eventBody, SECRET, signedRequest } from '../../../../test/support/receiving.ts'
import { createReceiver } from './create-receiver.ts'
import { TRACING, type Tracing } from './inspect.ts'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const silent = { info() {}, warn() {}, error() {} }

it('an observer with tracing chooses a delivery’s trace, and the context of all its handlers', async () => {
  const spans = new AsyncLocalStorage<string>()
  const tenants = new AsyncLocalStorage<string>()
  const tracing: Tracing = {
    traceOf: incoming => (tenants.getStore() === 'request' ? incoming : undefined),
    wrap: run => (delivery, attempt, limit) =>
      spans.run(`${delivery.trace?.traceparent} ${attempt.number}`, () => run(delivery, attempt, limit)),
  }
  const observe = Object.assign(() => {}, { [TRACING]: tracing })
  const receiver = tenants.run('receiver', () =>
    createReceiver({ secret: SECRET, observe, logger: silent, retry: { attempts: 2, minDelay: '1ms' } }),
  )
  const seen: unknown[] = []
  const see = (where: string) => void seen.push([where, spans.getStore(), tenants.getStore()])
  receiver.on('*', () => {
    see('handler')
    throw new Error('no')
  })
  receiver.onError(async () => see('onError')).onDeadLetter(() => see('onDeadLetter'))
  const request = signedRequest(eventBody(), { headers: { traceparent } })
  await tenants.run('request', () => receiver.handle(request))
  await vi.waitFor(() => expect(seen).toHaveLength(4))
  expect(seen).toEqual([
    ['handler', `${traceparent} 1`, 'receiver'],
    ['onError', `${traceparent} 1`, 'receiver'],
    ['handler', `${traceparent} 2`, 'receiver'],
    ['onDeadLetter', `${traceparent} 2`, 'receiver'],
  ])
  await receiver.close()
})

it('a failure names the trace of its event', async () => {
  const receiver = createReceiver({ secret: SECRET, logger: silent, retry: { attempts: 1 } })
  receiver.on('*', () => {
    throw new Error('no')
  })
  const traces: unknown[] = []
  receiver.onDeadLetter(({ delivery }) => void traces.push(delivery.trace))
  await receiver.handle(signedRequest(eventBody(), { headers: { traceparent, tracestate: 'vendor=1' } }))
  await vi.waitFor(() => expect(traces).toEqual([{ traceparent, tracestate: 'vendor=1' }]))
  await receiver.close()
})

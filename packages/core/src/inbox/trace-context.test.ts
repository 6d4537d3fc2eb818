import { expect, it } from 'vitest'
import { traceContext } from './trace-context.ts'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

it('accepts a W3C traceparent, including later versions', () => {
  expect(traceContext(traceparent)).toEqual({ traceparent })
  const later = `cc${traceparent.slice(2)}`
  expect(traceContext(later, undefined)).toEqual({ traceparent: later })
})

it.each([
  ['nothing', undefined],
  ['something else', 7],
  ['an empty string', ''],
  ['two headers, which a server joins', `${traceparent}, ${traceparent}`],
  ['a line break', `${traceparent}\n`],
  ['upper case', traceparent.toUpperCase()],
  ['the forbidden version', `ff${traceparent.slice(2)}`],
  ['more than the four fields', `${traceparent}-01`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`],
  ['a parent of zeros', `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`],
  ['a megabyte', '0'.repeat(1_000_000)],
])('refuses a traceparent that is %s', (_, value) => {
  expect(traceContext(value, 'vendor=1')).toBe(undefined)
})

it.each(['vendor=1', 'a=1, b=2,tenant@vendor=x y', 'a=1,,b=2', '0tenant@v=~', `k=${'v'.repeat(256)}`])(
  'accepts the tracestate %s',
  tracestate => {
    expect(traceContext(traceparent, tracestate)).toEqual({ traceparent, tracestate })
  },
)

it.each([
  ['nothing', undefined],
  ['a list', ['vendor=1']],
  ['an empty string', ' '],
  ['no pair', 'vendor'],
  ['a key in upper case', 'Vendor=1'],
  ['a value with a control character', 'vendor=\u0007'],
  ['a value with a letter outside ASCII', 'vendor=é'],
  ['a value with an equals sign', 'vendor=a=b'],
  ['33 members', Array.from({ length: 33 }, (_, i) => `k${i}=1`).join()],
  ['513 characters', `a=${'v'.repeat(255)},b=${'v'.repeat(253)}`],
])('drops a tracestate that is %s', (_, tracestate) => {
  expect(traceContext(traceparent, tracestate)).toEqual({ traceparent })
})

it('checks a long text too fast for an attacker to exploit', () => {
  const startedAt = performance.now()
  for (let i = 0; i < 1000; i++) traceContext(traceparent, `${'a'.repeat(240)}@${'b'.repeat(271)}`)
  expect(performance.now() - startedAt).toBeLessThan(1000)
})

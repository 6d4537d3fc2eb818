import { type LoggedDelivery, signatureOf } from './curl-of.ts'

/** An event that {@link testOf} writes a test for. `DeliveryDetail` has this form. */
export interface TestedEvent extends Pick<LoggedDelivery, 'body'> {
  /** The event's id. */
  readonly event: string
  readonly type: string
  /** The last request tells the signature's header and label. Empty for the default ones. */
  readonly log: readonly Pick<LoggedDelivery['log'][number], 'requestHeaders'>[]
}

/**
 * A Vitest file that delivers an event to a receiver in memory, and fails with the handler's error. It contains no
 * secret. Undefined for bytes that are no JSON object.
 */
export function testOf({ event, type, body, log }: TestedEvent): string | undefined {
  const literal = body.base64 === null ? literalOf(body.text) : undefined
  if (literal === undefined) return undefined
  const signature = signatureOf(log.at(-1)?.requestHeaders ?? {})
  const options = signature === undefined ? '' : optionsOf(signature)
  return [
    `import { testReceiver } from '@ackhook/testing'`,
    `import { expect, test } from 'vitest'`,
    `import { createHooks } from './webhooks.js' // a function of yours, which returns the receiver for a secret`,
    '',
    `const secret = 'whsec_only-for-tests'`,
    '',
    `const event = ${literal}`,
    '',
    `test(${quoted(`${type} ${event} is handled`)}, async () => {`,
    '  const app = testReceiver(createHooks(secret), { secret })',
    `  const { outcome, error } = await app.deliverEvent(event${options})`,
    "  expect({ outcome, error }).toEqual({ outcome: 'handled' })",
    '})',
    '',
  ].join('\n')
}

function literalOf(text: string): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  // In a literal, this name would set the prototype.
  if (text.includes('__proto__')) return `JSON.parse(${quoted(text)})`
  return JSON.stringify(value, undefined, 2)
}

function optionsOf({ header, scheme }: { readonly header: string; readonly scheme: string }): string {
  const changed = [
    ...(header.toLowerCase() === 'x-service-signature' ? [] : [`header: ${quoted(header)}`]),
    ...(scheme === 'v1' ? [] : [`scheme: ${quoted(scheme)}`]),
  ]
  return changed.length === 0 ? '' : `, { ${changed.join(', ')} }`
}

/** Writes text as a literal. */
function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

import { literal } from '@ackhook/core/spi'
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
  const value = eventIn(body)
  if (value === undefined) return undefined
  const printed = literalOf(body.text, value)
  const signature = signatureOf(log.at(-1)?.requestHeaders ?? {})
  const options = [
    ...(printed === undefined ? ['body'] : []),
    ...(signature === undefined ? [] : optionsOf(signature)),
  ]
  return [
    `import { testReceiver } from '@ackhook/testing'`,
    `import { expect, test } from 'vitest'`,
    `import { createHooks } from './webhooks.js' // a function of yours, which returns the receiver for a secret`,
    '',
    `const secret = 'whsec_only-for-tests'`,
    '',
    ...(printed === undefined
      ? [
          '// The exact text: an object cannot express its numbers, the order of its keys, or a key that comes twice.',
          `const body = ${literal(body.text)}`,
          'const event = JSON.parse(body)',
        ]
      : [`const event = ${printed}`]),
    '',
    `test(${literal(`${type} ${event} is handled`)}, async () => {`,
    '  const app = testReceiver(createHooks(secret), { secret })',
    `  const { outcome, error } = await app.deliverEvent(event${options.length === 0 ? '' : `, { ${options.join(', ')} }`})`,
    "  expect({ outcome, error }).toEqual({ outcome: 'handled' })",
    '})',
    '',
  ].join('\n')
}

/** Returns whether {@link testOf} writes a test for these bytes. */
export function isTestable(body: TestedEvent['body']): boolean {
  return eventIn(body) !== undefined
}

function eventIn({ text, base64 }: TestedEvent['body']): object | undefined {
  if (base64 !== null) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Returns the value as a literal, if that has all that the text says: each digit, each key and their order. */
function literalOf(text: string, value: object): string | undefined {
  try {
    const plain = text.replace(/"(?:[^"\\]|\\.)*"|\s+/g, part =>
      part.startsWith('"') ? JSON.stringify(JSON.parse(part)) : '',
    )
    return plain === JSON.stringify(value) ? literal(value) : undefined
  } catch {
    // It is nested too deeply to be written.
    return undefined
  }
}

function optionsOf({
  header,
  scheme,
}: {
  readonly header: string
  readonly scheme: string
}): readonly string[] {
  return [
    ...(header.toLowerCase() === 'x-service-signature' ? [] : [`header: ${literal(header)}`]),
    ...(scheme === 'v1' ? [] : [`scheme: ${literal(scheme)}`]),
  ]
}

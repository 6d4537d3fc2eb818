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
  const value = body.base64 === null ? objectOf(body.text) : undefined
  if (value === undefined) return undefined
  const isExact = hasLiteral(body.text, value)
  const signature = signatureOf(log.at(-1)?.requestHeaders ?? {})
  const options = [...(isExact ? [] : ['body']), ...(signature === undefined ? [] : optionsOf(signature))]
  return [
    `import { testReceiver } from '@ackhook/testing'`,
    `import { expect, test } from 'vitest'`,
    `import { createHooks } from './webhooks.js' // a function of yours, which returns the receiver for a secret`,
    '',
    `const secret = 'whsec_only-for-tests'`,
    '',
    ...(isExact
      ? [`const event = ${JSON.stringify(value, undefined, 2)}`]
      : [
          '// The exact text: an object cannot express its numbers, the order of its keys, a key that comes twice, or __proto__.',
          `const body = ${quoted(body.text)}`,
          'const event = JSON.parse(body)',
        ]),
    '',
    `test(${quoted(`${type} ${event} is handled`)}, async () => {`,
    '  const app = testReceiver(createHooks(secret), { secret })',
    `  const { outcome, error } = await app.deliverEvent(event${options.length === 0 ? '' : `, { ${options.join(', ')} }`})`,
    "  expect({ outcome, error }).toEqual({ outcome: 'handled' })",
    '})',
    '',
  ].join('\n')
}

function objectOf(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Returns whether a literal of the value has all that the text says: each digit, each key and their order. */
function hasLiteral(text: string, value: object): boolean {
  const plain = text.replace(/"(?:[^"\\]|\\.)*"|\s+/g, part =>
    part.startsWith('"') ? JSON.stringify(JSON.parse(part)) : '',
  )
  // In a literal, this name would set the prototype.
  return plain === JSON.stringify(value) && !plain.includes('"__proto__"')
}

function optionsOf({
  header,
  scheme,
}: {
  readonly header: string
  readonly scheme: string
}): readonly string[] {
  return [
    ...(header.toLowerCase() === 'x-service-signature' ? [] : [`header: ${quoted(header)}`]),
    ...(scheme === 'v1' ? [] : [`scheme: ${quoted(scheme)}`]),
  ]
}

/** Writes text as a literal. */
function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

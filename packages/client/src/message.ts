import { misconfigured } from './client-error.ts'
import { refuseUnknownNames } from './refuse-unknown-names.ts'

/** The four fields of a message. */
export interface Message {
  /** The channel. `'whatsapp'` is the only published one. */
  readonly channel: 'whatsapp' | (string & {})
  /** The recipient's phone number in international format, with a leading `+`. */
  readonly to: string
  /** Name of the message template. */
  readonly template: string
  /** Values for the variables of the template, as JSON. Left out of the request when it is absent. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined
}

/** The body of the request. Throws for a message that cannot be meant. */
export function toBody(message: Message): string {
  refuseUnknownNames('fields of a message', message, ['channel', 'to', 'template', 'variables'])
  const { channel, to, template, variables } = message
  for (const [name, value] of Object.entries({ channel, template })) {
    if (typeof value !== 'string' || value === '') throw misconfigured(name, 'must be a non-empty string')
  }
  if (typeof to !== 'string' || !/^\+\d/.test(to)) {
    throw misconfigured('to', "must be a phone number in international format, with a leading '+'")
  }
  if (variables !== undefined) checkVariables(variables)
  try {
    return JSON.stringify({ channel, to, template, variables })
  } catch {
    // Omits the cause, to which a `toJSON` of yours may have given a value.
    throw misconfigured('variables', 'cannot be written as JSON')
  }
}

function checkVariables(variables: unknown): void {
  if (typeof variables !== 'object' || variables === null || Array.isArray(variables)) {
    throw misconfigured('variables', 'must be an object of names and values')
  }
  for (const [name, value] of Object.entries(variables)) {
    // JSON would leave these out or write null, and the recipient would read a message with a gap.
    if (['undefined', 'function', 'symbol'].includes(typeof value) || isNoNumber(value)) {
      throw misconfigured(`variables.${name}`, 'has no value')
    }
  }
}

/** NaN and the infinities, which JSON writes as null. */
function isNoNumber(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value)
}

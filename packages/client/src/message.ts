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
  /** Values for the template's variables, as JSON. Omitted from the request if absent. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined
}

/** Returns the request's body. Throws for an invalid message. */
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
    // Omits the cause, because a `toJSON` of yours may have put a value into it.
    throw misconfigured('variables', 'cannot be written as JSON')
  }
}

function checkVariables(variables: unknown): void {
  if (typeof variables !== 'object' || variables === null || Array.isArray(variables)) {
    throw misconfigured('variables', 'must be an object of names and values')
  }
  for (const [name, value] of Object.entries(variables)) {
    // JSON would omit these or write null, and the recipient would read a message with a gap.
    if (['undefined', 'function', 'symbol'].includes(typeof value) || isNoNumber(value)) {
      throw misconfigured(`variables.${name}`, 'must be a JSON value')
    }
  }
}

/** Returns whether a value is NaN or infinite, which JSON writes as null. */
function isNoNumber(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value)
}

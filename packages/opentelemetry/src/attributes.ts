import type { Attributes } from '@opentelemetry/api'

/** Attribute names of the OpenTelemetry conventions (messaging, error, HTTP), and ours under `ackhook.`. */
export const ATTRIBUTE = {
  system: 'messaging.system',
  operationName: 'messaging.operation.name',
  operationType: 'messaging.operation.type',
  destination: 'messaging.destination.name',
  messageId: 'messaging.message.id',
  errorType: 'error.type',
  status: 'http.response.status_code',
  code: 'ackhook.code',
  namespace: 'ackhook.namespace',
  attempt: 'ackhook.attempt',
  conflict: 'ackhook.conflict',
  deadLettered: 'ackhook.dead_lettered',
  incident: 'ackhook.incident',
} as const

/** `receive`: from the request to the acknowledgement. `process`: one attempt of the handlers. */
export type Operation = 'receive' | 'process'

/**
 * What every span and messaging metric says, to be added to. The event type stands for the destination: it is what one
 * subscribes to. Added to and not spread into another literal: that takes Node 20 a microsecond and a hidden class.
 */
export function operationAttributes(operation: Operation, type?: string): Attributes {
  const attributes: Attributes = {
    [ATTRIBUTE.system]: 'webhook',
    [ATTRIBUTE.operationName]: operation,
    [ATTRIBUTE.operationType]: operation,
  }
  if (type !== undefined) attributes[ATTRIBUTE.destination] = type
  return attributes
}

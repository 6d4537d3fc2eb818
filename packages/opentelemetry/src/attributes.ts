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
  cause: 'ackhook.cause',
  conflict: 'ackhook.conflict',
  deadLettered: 'ackhook.dead_lettered',
  incident: 'ackhook.incident',
  round: 'ackhook.round',
  secret: 'ackhook.secret',
  source: 'ackhook.source',
} as const

/**
 * `accept`: from the request to its reply. The conventions have no type for it: `receive` is for messages that the
 * application pulls. `process`: one attempt of the handlers.
 */
export type Operation = 'accept' | 'process'

/** Attributes that every span and messaging metric has. The destination is the event type, as subscriptions name it. */
export function operationAttributes(operation: Operation, destination: string): Attributes {
  return {
    [ATTRIBUTE.system]: 'webhook',
    [ATTRIBUTE.operationName]: operation,
    [ATTRIBUTE.destination]: destination,
  }
}

/** Adds the event's id and namespace, for spans only: in a metric, each value would make a time series. */
// Callers add to the object instead of spreading it. perf: note 7.
export function eventAttributes(
  operation: Operation,
  event: { readonly id: string; readonly type: string; readonly namespace: string },
): Attributes {
  const attributes = operationAttributes(operation, event.type)
  attributes[ATTRIBUTE.messageId] = event.id
  if (event.namespace) attributes[ATTRIBUTE.namespace] = event.namespace
  if (operation === 'process') attributes[ATTRIBUTE.operationType] = operation
  return attributes
}

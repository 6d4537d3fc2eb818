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

/** What every span and messaging metric has in common. The destination is the event type, as subscriptions name it. */
// Callers add to the object instead of spreading it. perf: note 7.
export function operationAttributes(operation: Operation, type?: string): Attributes {
  const attributes: Attributes = {
    [ATTRIBUTE.system]: 'webhook',
    [ATTRIBUTE.operationName]: operation,
    [ATTRIBUTE.operationType]: operation,
  }
  if (type !== undefined) attributes[ATTRIBUTE.destination] = type
  return attributes
}

/** The same with the id and the namespace of the event, for spans only: in a metric they would make a time series each. */
export function eventAttributes(
  operation: Operation,
  event: { readonly id: string; readonly type: string; readonly namespace: string } | undefined,
): Attributes {
  const attributes = operationAttributes(operation, event?.type)
  if (event !== undefined) attributes[ATTRIBUTE.messageId] = event.id
  if (event?.namespace) attributes[ATTRIBUTE.namespace] = event.namespace
  return attributes
}

export function spanName(operation: Operation, type: string | undefined): string {
  return type === undefined ? operation : `${operation} ${type}`
}

import {
  createReceiver,
  type EventSchemas,
  type Logger,
  type Observation,
  type ReceiverOptions,
  type WebhookReply,
  type WebhookRequest,
} from '@ackhook/core'
import { type SignOptions, sign } from '@ackhook/testing'

export { sign }

export const SECRET = 'whsec_test_0123456789abcdef'

/** Returns the JSON of an envelope, by default `conversation.resolved`. */
export function eventBody(fields: Record<string, unknown> = {}): string {
  return JSON.stringify({
    id: 'evt_1',
    type: 'conversation.resolved',
    created_at: '2026-01-01T00:00:00Z',
    data: { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'ai' },
    ...fields,
  })
}

/** Returns a correctly signed request, as an adapter passes it to a receiver. */
export function signedRequest(
  body: string | Uint8Array = eventBody(),
  options: Partial<SignOptions> & { readonly headers?: Record<string, string> } = {},
): WebhookRequest<undefined> {
  const { headers, ...signing } = options
  return {
    method: 'POST',
    headers: { 'x-service-signature': sign(body, { secret: SECRET, ...signing }), ...headers },
    body: new Uint8Array(Buffer.from(body)),
    context: undefined,
  }
}

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error'
  readonly fields: Record<string, unknown>
  readonly message: string
}

/** Creates a logger that keeps its lines. */
export function recordingLogger(): Logger & { readonly lines: LogLine[] } {
  const lines: LogLine[] = []
  const write = (level: LogLine['level']) => (fields: object, message: string) =>
    void lines.push({ level, fields: fields as Record<string, unknown>, message })
  return { lines, info: write('info'), warn: write('warn'), error: write('error') }
}

/** Creates a receiver, and keeps its observations and log lines. */
export function watch(options: Partial<ReceiverOptions<EventSchemas, undefined>> = {}): {
  readonly receiver: ReturnType<typeof createReceiver<Record<never, never>, undefined>>
  readonly seen: Observation[]
  readonly logger: ReturnType<typeof recordingLogger>
  send(
    fields?: Record<string, unknown>,
  ): Promise<{ status: number; code: string; headers: WebhookReply['headers'] }>
} {
  const seen: Observation[] = []
  const logger = recordingLogger()
  const receiver = createReceiver<Record<never, never>, undefined>({
    secret: SECRET,
    logger,
    observe: observation => seen.push(observation),
    ...(options as object),
  })
  return {
    receiver,
    seen,
    logger,
    async send(fields) {
      const reply = await receiver.handle(signedRequest(eventBody(fields)))
      return { status: reply.status, code: JSON.parse(reply.body).code, headers: reply.headers }
    },
  }
}

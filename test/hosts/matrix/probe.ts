import { randomUUID } from 'node:crypto'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { sign } from '@ackhook/testing'

/** A delivery as its sender writes it. What is left out is that of a good delivery. */
export interface Sent {
  readonly id?: string
  /** Text of the event's data, which makes the body larger. */
  readonly note?: string
  /** How the handler of the matrix behaves: see `instrument`. */
  readonly resolvedBy?: 'ai' | 'fails' | 'waits'
  readonly secret?: string
  readonly timestamp?: number
  readonly method?: string
  /** `null`: none. */
  readonly contentType?: string | null
  /** Sends no Content-Length. */
  readonly chunked?: boolean
  /** Changes a byte after the signature. */
  readonly forge?: boolean
}

/** A reply as its sender reads it: status and code, or the error of the connection. */
export type Outcome = string

/** Sends a signed delivery over a connection of its own, and writes on while the reply comes, as most senders do. */
export async function deliver(url: string, secret: string, sent: Sent = {}): Promise<Outcome> {
  const { id = `evt_${randomUUID()}`, note = '', resolvedBy = 'ai', method = 'POST', timestamp } = sent
  const data = { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: resolvedBy, note }
  const event = { id, type: 'conversation.resolved', created_at: '2026-01-01T00:00:00Z', data }
  // Bytes that no parser keeps.
  const text = `${JSON.stringify(event, undefined, 2)}\n`
  const signature = sign(text, {
    secret: sent.secret ?? secret,
    ...(timestamp !== undefined && { timestamp }),
  })
  const body = Buffer.from(sent.forge === true ? text.replace('cnv_1', 'cnv_2') : text)
  const type = sent.contentType === undefined ? 'application/json' : sent.contentType
  const headers = {
    'x-service-signature': signature,
    connection: 'close',
    ...(type !== null && { 'content-type': type }),
    ...(method !== 'GET' && (sent.chunked === true ? CHUNKED : { 'content-length': body.length })),
  }
  const outgoing = request(url, { method, headers, timeout: 20_000, agent: false })
  const reply = replyTo(outgoing)
  outgoing.on('error', () => {})
  if (method !== 'GET') for (let at = 0; at < body.length; at += CHUNK) outgoing.write(body.subarray(at, at + CHUNK))
  outgoing.end()
  return reply
}

const CHUNKED = { 'transfer-encoding': 'chunked' }
const CHUNK = 16_384

function replyTo(outgoing: ClientRequest): Promise<Outcome> {
  return new Promise(resolve => {
    outgoing.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    outgoing.on('timeout', () => outgoing.destroy(new Error('no reply')))
    outgoing.on('response', response => void read(response).then(resolve))
  })
}

async function read(response: IncomingMessage): Promise<Outcome> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
  const text = Buffer.concat(chunks).toString()
  const code = /"code":\s*"(\w+)"/.exec(text)?.[1] ?? 'not ours'
  return `${response.statusCode} ${code}`
}

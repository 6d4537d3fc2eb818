import { EmulatorError, invalid } from '../errors/emulator-error.ts'
import type { Fields } from '../lib/read-fields.ts'
import { isJson } from '../security/request-check.ts'

/** Maximum size of a request, with room for a batch of events. */
const MAX_BYTES = 16 * 1024 * 1024

/** Reads a JSON object from the body; an empty body gives an empty object. Throws `EmulatorError`. */
export async function readJson(request: Request): Promise<Fields> {
  const text = await readText(request)
  if (text === '') return {}
  if (!isJson(request.headers.get('content-type') ?? undefined)) {
    throw new EmulatorError('unsupported_media_type', 'send the body as application/json')
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw invalid('body', `must be JSON: ${(error as Error).message}`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw invalid('body', 'must be a JSON object')
}

async function readText({ body }: Request): Promise<string> {
  if (body === null) return ''
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > MAX_BYTES)
      throw new EmulatorError('too_large', `a request may have at most ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

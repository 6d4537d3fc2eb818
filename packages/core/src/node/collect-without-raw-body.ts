import type { Refusal } from '../errors/refusal.ts'
import { ByteCollector } from '../lib/byte-collector.ts'
import type { BodyGuard } from './body-guard.ts'

/**
 * Collects all bytes of a body on platforms that have Node's streams but no raw-body, such as Workers. Never rejects.
 */
export function collectBody(body: BodyGuard): Promise<Uint8Array | Refusal> {
  const collector = new ByteCollector()
  return new Promise(resolve => {
    body
      .on('data', chunk => collector.add(chunk as Uint8Array))
      .on('end', () => resolve(collector.take()))
      .on('error', refusal => resolve(refusal as Refusal))
  })
}

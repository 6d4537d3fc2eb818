import type { Refusal } from '../errors/refusal.ts'
import { ByteCollector } from '../lib/byte-collector.ts'
import type { BodyGuard } from './body-guard.ts'

/** All bytes of a body where there are streams of Node but no raw-body, as on Workers. Never rejects. */
export function collectBody(body: BodyGuard): Promise<Uint8Array | Refusal> {
  const collector = new ByteCollector()
  return new Promise(resolve => {
    body
      .on('data', chunk => collector.add(chunk as Uint8Array))
      .on('end', () => resolve(collector.take()))
      .on('error', refusal => resolve(refusal as Refusal))
  })
}

import { gunzipSync } from 'node:zlib'
import type { Facts } from '../evidence/facts.ts'
import type { Guess } from '../evidence/finding.ts'

const MAX_BYTES = 64 * 1024 ** 2

export function bodyCompressed({ delivery: { body } }: Facts): readonly Guess[] {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return []
  try {
    return [
      {
        cause: 'body-compressed',
        body: gunzipSync(body, { maxOutputLength: MAX_BYTES }),
        text: 'The body was compressed with gzip after it was signed. Disable request compression in the proxy in front of your app: the signature covers the plain bytes.',
      },
    ]
  } catch {
    return []
  }
}

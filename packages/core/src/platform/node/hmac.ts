import crypto from 'node:crypto'
import type { Mac } from '../platform.ts'

const BLOCK_BYTES = 64
const HASH_BYTES = 32
const DOT = 0x2e
/** Body length from which `createHmac` costs at most two one-shot hashes, and copies nothing. */
const SCRATCH_BYTES = 8192

/**
 * HMAC-SHA256 of `<timestamp>.<body>` under `secret`, as RFC 2104 defines it: `H(outer block, H(inner block, message))`.
 * Each hash is one call, which takes half the time of `createHmac` for small bodies. perf: note 12.
 */
export function hmac(secret: string): Mac {
  const key = crypto.createSecretKey(secret, 'utf8')
  const inner = keyBlock(secret, 0x36)
  const outer = Buffer.concat([keyBlock(secret, 0x5c), Buffer.alloc(HASH_BYTES)])
  return (timestamp, body) => {
    const start = BLOCK_BYTES + timestamp.length + 1
    if (start + body.length > SCRATCH_BYTES)
      return crypto.createHmac('sha256', key).update(`${timestamp}.`).update(body).digest('hex')
    scratch.set(inner)
    // Copies a few digits, for which a call of `write` costs more. perf: note 45.
    for (let i = 0; i < timestamp.length; i++) scratch[BLOCK_BYTES + i] = timestamp.charCodeAt(i)
    scratch[start - 1] = DOT
    scratch.set(body, start)
    const digest = crypto.hash('sha256', scratch.subarray(0, start + body.length), 'binary')
    outer.write(digest, BLOCK_BYTES, 'latin1')
    return crypto.hash('sha256', outer, 'hex')
  }
}

/** Shared by all secrets: nothing awaits between writing and hashing. */
const scratch = Buffer.alloc(SCRATCH_BYTES)

function keyBlock(secret: string, padding: number): Buffer {
  const bytes = Buffer.from(secret, 'utf8')
  const key = bytes.length > BLOCK_BYTES ? crypto.hash('sha256', bytes, 'buffer') : bytes
  const block = Buffer.alloc(BLOCK_BYTES, padding)
  for (const [i, byte] of key.entries()) block[i] = byte ^ padding
  return block
}

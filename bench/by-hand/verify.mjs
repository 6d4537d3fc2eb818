import { createHmac, hash, timingSafeEqual } from 'node:crypto'

const TOLERANCE_S = 300

/** A careful engineer's verification: parsed header, HMAC over the raw bytes, constant-time comparison, tolerance. */
export function createVerifyByHand(secret) {
  return (header, body) => {
    const match = /^t=(\d{10}),v1=([0-9a-f]{64})$/.exec(header)
    if (match === null) return false
    const [, t, signature] = match
    const expected = createHmac('sha256', secret).update(`${t}.`).update(body).digest()
    if (!timingSafeEqual(expected, Buffer.from(signature, 'hex'))) return false
    return Math.abs(Date.now() / 1000 - Number(t)) <= TOLERANCE_S
  }
}

/**
 * The fastest correct way we found, for one secret and one header format: two one-shot hashes with prepared key blocks up
 * to 8 KB, one HMAC above. It is the floor that the others are divided by.
 */
export function createFastestVerify(secret) {
  const key = Buffer.from(secret)
  const scratch = Buffer.alloc(64 + 11 + 8192)
  const outer = Buffer.alloc(96)
  for (let i = 0; i < 64; i++) {
    scratch[i] = 0x36 ^ (key[i] ?? 0)
    outer[i] = 0x5c ^ (key[i] ?? 0)
  }
  const digestOf = (t, body) => {
    if (body.length > 8192) return createHmac('sha256', secret).update(`${t}.`).update(body).digest('latin1')
    scratch.latin1Write(t, 64)
    scratch[74] = 0x2e
    scratch.set(body, 75)
    outer.latin1Write(hash('sha256', scratch.subarray(0, 75 + body.length), 'latin1'), 64)
    return hash('sha256', outer, 'latin1')
  }
  return (header, body) => {
    if (header.length !== 80 || !header.startsWith('t=') || !header.startsWith(',v1=', 12)) return false
    const t = header.slice(2, 12)
    const seconds = Number(t)
    if (!(Math.abs(Date.now() / 1000 - seconds) <= TOLERANCE_S)) return false
    const digest = digestOf(t, body)
    let difference = 0
    for (let i = 0; i < 32; i++) {
      const high = HEX[header.charCodeAt(16 + 2 * i) & 127]
      const low = HEX[header.charCodeAt(17 + 2 * i) & 127]
      difference |= digest.charCodeAt(i) ^ ((high << 4) | low)
    }
    return difference === 0
  }
}

const HEX = new Uint8Array(128).fill(255)
for (let digit = 0; digit < 16; digit++) HEX[digit.toString(16).charCodeAt(0)] = digit

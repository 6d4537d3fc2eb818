import { createHmac } from 'node:crypto'

/** Secret of 32 bytes, which is also valid base64 for libraries that decode their secret. */
export const SECRET = Buffer.from('bench-secret-of-thirty-two-bytes').toString('base64')

const hmac = (key, encoding, ...parts) => {
  const mac = createHmac('sha256', key)
  for (const part of parts) mac.update(part)
  return mac.digest(encoding)
}

/** Each sender's signature headers for given bytes. Each peer receives its own platform's headers. */
export const DIALECTS = {
  service(body, t) {
    return { 'x-service-signature': `t=${t},v1=${hmac(SECRET, 'hex', `${t}.`, body)}` }
  },
  stripe(body, t) {
    return { 'stripe-signature': `t=${t},v1=${hmac(SECRET, 'hex', `${t}.`, body)}` }
  },
  github(body, _t, id) {
    return {
      'x-github-event': 'ping',
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${hmac(SECRET, 'hex', body)}`,
    }
  },
  slack(body, t) {
    return {
      'x-slack-request-timestamp': String(t),
      'x-slack-signature': `v0=${hmac(SECRET, 'hex', `v0:${t}:`, body)}`,
    }
  },
  standard(body, t, id) {
    const key = Buffer.from(SECRET, 'base64')
    return {
      'webhook-id': id,
      'webhook-timestamp': String(t),
      'webhook-signature': `v1,${hmac(key, 'base64', `${id}.${t}.`, body)}`,
    }
  },
}

import type { Facts } from '../evidence/facts.ts'
import type { Finding } from '../evidence/finding.ts'

export function methodNotPost({ delivery }: Facts): Finding | undefined {
  if (delivery.method.toUpperCase() === 'POST') return undefined
  return {
    cause: 'method-not-post',
    proven: true,
    text: `This is a ${delivery.method} request, not a delivery: webhooks are sent by POST. Something else called the address, such as a browser or a health check. Or a redirect turned the POST into a GET: register the final address with the platform.`,
  }
}

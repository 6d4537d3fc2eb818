import type { Facts } from '../facts.ts'
import type { Finding } from '../finding.ts'

export function methodNotPost({ delivery }: Facts): Finding | undefined {
  if (delivery.method.toUpperCase() === 'POST') return undefined
  return {
    cause: 'method-not-post',
    proven: true,
    text: `This is a ${delivery.method} request and no delivery: webhooks come as POST. Something else called the address, for example a browser or a health check; or a redirect turned the POST into a GET, so register the final address with the platform.`,
  }
}

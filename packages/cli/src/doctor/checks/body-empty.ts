import type { Facts } from '../evidence/facts.ts'
import type { Finding } from '../evidence/finding.ts'

export function bodyEmpty({ delivery, text }: Facts): Finding | undefined {
  const hollow = delivery.body.length === 0 || text.trim() === '{}' || text === '[object Object]'
  if (!hollow) return undefined
  const what = delivery.body.length === 0 ? 'empty' : `only ${text.trim()}`
  return {
    cause: 'body-empty',
    proven: false,
    text: `The body is ${what}: something consumed it before it was saved, usually a body parser such as app.use(express.json()). Mount the webhook route above every body parser.`,
  }
}

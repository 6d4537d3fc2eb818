// @ts-check
import { createReceiver } from '@ackhook/core'
import { z } from 'zod'

/**
 * A schema for each type's data: handlers have its output type and receive its output. An event that does not match gets
 * 422, so the platform keeps it until the schema is fixed.
 *
 * @param {{ secret: string | undefined }} options
 */
export function createTypedReceiver({ secret }) {
  return createReceiver({
    secret,
    events: {
      'conversation.resolved': z.object({
        conversation_id: z.string().startsWith('cnv_'),
        // Accepts any string on purpose: the platform will add channels.
        channel: z.string(),
        resolved_by: z.string().default('unknown'),
      }),
      // Its shape is not published yet: only this line will change.
      'campaign.completed': z.object({ delivered: z.coerce.number().int() }),
    },
    // Quiet, because the demo prints the refusal itself.
    logger: { info() {}, warn() {}, error() {} },
  })
}

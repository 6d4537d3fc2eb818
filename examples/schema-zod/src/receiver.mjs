// @ts-check
import { createReceiver } from '@ackhook/core'
import { z } from 'zod'

/**
 * A schema for the data of each type: handlers are typed by it, and get what it returns. An event that does not
 * match is answered with 422, so that the platform keeps it until the schema is right.
 *
 * @param {{ secret: string | undefined }} options
 */
export function createTypedReceiver({ secret }) {
  return createReceiver({
    secret,
    events: {
      'conversation.resolved': z.object({
        conversation_id: z.string().startsWith('cnv_'),
        // Open on purpose: the platform will add channels.
        channel: z.string(),
        resolved_by: z.string().default('unknown'),
      }),
      // Not published yet: when its shape is known, this line is all that changes.
      'campaign.completed': z.object({ delivered: z.coerce.number().int() }),
    },
    // Quiet, because the demo prints what was refused.
    logger: { info() {}, warn() {}, error() {} },
  })
}

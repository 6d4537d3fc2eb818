import type { Logger } from '@ackhook/core'
import { webhooks } from '@ackhook/express'
import { newest, sqlEffects, sqlStore } from '@ackhook/sql'
import { eq, sql } from 'drizzle-orm'
import express from 'express'
import { conversations, type Database } from './database.ts'

export interface AppOptions {
  secret: string | undefined
  /** Called in the transaction, after its writes. If it throws, they are undone, and the next attempt makes them. */
  onResolved(id: string): void
  logger?: Logger
}

/** The app without a port. */
export function createApp(db: Database, { secret, onResolved, logger }: AppOptions) {
  const { once } = sqlEffects(db)
  // The ids of handled events are in the database too, for every process that uses it.
  const hooks = webhooks({ secret, store: sqlStore(db), strict: true, logger })

  hooks.on(
    'conversation.resolved',
    once('resolve', async (event, tx) => {
      const { conversation_id: id, resolved_by: resolvedBy } = event.data
      // Each event counts, in whatever order they arrive.
      await tx
        .insert(conversations)
        .values({ id, resolvedBy, resolutions: 1 })
        .onConflictDoUpdate({
          target: conversations.id,
          set: { resolutions: sql`${conversations.resolutions} + 1` },
        })
      // Only the newest one decides.
      if (await newest(tx, { entity: id, at: event.created_at, eventId: event.id }))
        await tx.update(conversations).set({ resolvedBy }).where(eq(conversations.id, id))
      onResolved(id)
    }),
  )

  const app = express()
  app.post('/webhooks', hooks) // above express.json(): the signature covers the exact bytes
  return { app, hooks }
}

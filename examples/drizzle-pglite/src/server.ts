import { gracefulShutdown } from '@ackhook/core/node'
import { createApp } from './app.ts'
import { createTables, openDatabase } from './database.ts'

const { db, close } = openDatabase(process.env.DATABASE_URL)
await createTables(db)
const { app, hooks } = createApp(db, {
  secret: process.env.SIGNING_SECRET ?? 'only-for-trying-it-out',
  onResolved: id => console.log(`${id} is resolved`),
})
await hooks.start() // rejects if a table is missing

const port = Number(process.env.PORT ?? 3000)
const server = app.listen(port)
server.once('listening', () => console.log(`Listening on http://localhost:${port}/webhooks`))

gracefulShutdown(hooks, server, { cleanup: close })

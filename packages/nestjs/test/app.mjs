import 'reflect-metadata'
import { setTimeout } from 'node:timers/promises'
import { OnWebhook, WebhooksModule } from '@ackhook/nestjs'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'

/** Longer than a server needs to close. */
const HANDLER_MS = 500

let isOpen = true
class Database {
  onModuleDestroy() {
    isOpen = false
    console.log('closes the database')
  }
}
class Handlers {
  async close() {
    console.log('begins')
    await setTimeout(HANDLER_MS)
    console.log(`ends with the database ${isOpen ? 'open' : 'closed'}`)
  }
}
const { prototype } = Handlers
OnWebhook('*')(prototype, 'close', Object.getOwnPropertyDescriptor(prototype, 'close'))
class DatabaseModule {}
Module({ providers: [Database] })(DatabaseModule)
class AppModule {}
const webhooks = WebhooksModule.forRoot({ secret: process.env.SIGNING_SECRET })
Module({ imports: [webhooks, DatabaseModule], providers: [Handlers] })(AppModule)

const app = await NestFactory.create(AppModule, { logger: ['warn', 'error'] })
// By default Nest ends the process with the signal itself.
app.enableShutdownHooks([], { useProcessExit: true })
await app.listen(0, '127.0.0.1')
console.log(`listening on ${await app.getUrl()}`)

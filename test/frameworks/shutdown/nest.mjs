/** NestJS with its own signal hooks, or without them if the argument is `alone`. */
import 'reflect-metadata'
import { gracefulShutdown, nodeHealth } from '@ackhook/core/node'
import { webhooks } from '@ackhook/express'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { options, setUp } from './app.mjs'

const isAlone = process.argv[2] === 'alone'
let end = () => {}

/** Runs before Nest closes the server. */
class Webhooks {
  beforeApplicationShutdown() {
    return end()
  }
}
class AppModule {}
Module({ providers: [Webhooks] })(AppModule)

const app = await NestFactory.create(AppModule, { logger: false })
if (!isAlone) app.enableShutdownHooks()
const hooks = setUp(webhooks(options))
app.use('/webhooks', hooks)
app.use('/health', nodeHealth(hooks))
await app.listen(process.env.PORT, '127.0.0.1')
end = gracefulShutdown(hooks, app, { grace: '1s', ...(!isAlone && { signals: [] }) })

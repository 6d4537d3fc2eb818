/** close-with-grace listens to the signals and ends the process. */
import { gracefulShutdown, nodeHealth } from '@ackhook/core/node'
import { webhooks } from '@ackhook/express'
import closeWithGrace from 'close-with-grace'
import express from 'express'
import { options, setUp } from './app.mjs'

const hooks = setUp(webhooks(options))
const app = express()
app.post('/webhooks', hooks)
app.get('/health/:probe', nodeHealth(hooks))
const server = app.listen(process.env.PORT, '127.0.0.1')
const end = gracefulShutdown(hooks, server, { grace: '1s', signals: [] })
closeWithGrace({ delay: 30_000 }, () => end())

// A server that reports its largest growth of resident memory to its parent after each request.
// Argument: `ackhook` reads bodies with the built adapter, `raw-body` with the package of that name.
import { webhooks } from '@ackhook/express'
import express from 'express'
import getRawBody from 'raw-body'

const app = express()
let before = 0
let peak = 0
const sample = () => {
  peak = Math.max(peak, process.memoryUsage.rss())
}
setInterval(sample, 2).unref()

app.use((_request, response, next) => {
  globalThis.gc()
  before = process.memoryUsage.rss()
  peak = before
  response.on('finish', () => {
    sample()
    process.send({ status: response.statusCode, grownBy: peak - before })
  })
  next()
})
if (process.argv[2] === 'ackhook') {
  app.post('/', webhooks({ secret: process.env.SIGNING_SECRET, body: { timeout: '5m' } }))
} else {
  app.post('/', async (request, response) => {
    const body = await getRawBody(request, { limit: 1_048_576 })
    response.status(202).json({ length: body.length })
  })
}
const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))

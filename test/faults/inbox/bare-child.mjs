// A bare node:http server for the backpressure test: the same replies without a receiver. Its settings come as JSON in
// the first argument.
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'

const { ledger, workMs, options } = JSON.parse(process.argv[2])
let running = 0

const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  const chunks = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    const { id } = JSON.parse(Buffer.concat(chunks).toString())
    const accepted = running < options.capacity
    response.writeHead(accepted ? 202 : 503, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id }))
    if (!accepted) return
    running++
    setTimeout(() => {
      running--
      appendFileSync(ledger, `done ${id} 1\n`)
    }, workMs)
  })
})

process.on('message', () => process.send({ rss: process.memoryUsage.rss() }))
process.on('disconnect', () => process.exit(0))
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))

// What node:http takes for the same load by itself: it reads the body, works for as long, and answers the same.
import { createServer } from 'node:http'

const { workMs, options } = JSON.parse(process.argv[2])
let held = 0

function admit() {
  if (held >= options.capacity) return 503
  held++
  setTimeout(() => held--, workMs)
  return 202
}

const server = createServer((request, response) => {
  const chunks = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    Buffer.concat(chunks)
    response.writeHead(admit(), { 'content-type': 'application/json' }).end('{"code":"bare"}')
  })
})

process.on('message', message => {
  if (message === 'rss') process.send({ rss: process.memoryUsage.rss() })
})
process.on('disconnect', () => process.exit(0))
process.on('SIGTERM', () => process.exit(0))
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))

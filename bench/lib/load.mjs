import autocannon from 'autocannon'
import { DIALECTS } from './dialects.mjs'
import { writeId } from './event-body.mjs'
import { percentile } from './percentile.mjs'

let nextId = Date.now() * 1000

/**
 * Signed events with an id each, for so many seconds, over so many connections, at most `perSecond` of them if
 * given. autocannon sends and measures; the bytes are made here, because a request of ours must be signed anew
 * each time.
 */
export async function load({ port, body, dialect = 'service', connections = 32, seconds, perSecond }) {
  const nextRequest = createRequests(port, body, dialect)
  const statuses = {}
  // autocannon's own percentiles are whole milliseconds.
  const latencies = []
  const result = await autocannon({
    url: `http://127.0.0.1:${port}/`,
    connections,
    duration: seconds,
    sampleInt: 100,
    method: 'POST',
    ...(perSecond && { overallRate: perSecond }),
    setupClient(client) {
      client.getRequestBuffer = nextRequest
      client.on('response', (status, _bytes, ms) => {
        statuses[status] = (statuses[status] ?? 0) + 1
        latencies.push(ms)
      })
    },
  })
  const good = Object.entries(statuses).reduce(
    (sum, [status, count]) => (status < 300 ? sum + count : sum),
    0,
  )
  if (result.errors > 0 || good < result.requests.total * 0.99) {
    throw new Error(`the load on port ${port} met ${result.errors} errors and ${JSON.stringify(statuses)}`)
  }
  return {
    perSecond: good / result.duration,
    p99Ms: percentile(latencies, 0.99),
    answered: good,
    statuses,
  }
}

/** Raw requests, laid out once: only the id and the signature headers change. */
function createRequests(port, { bytes, idAt }, dialect) {
  const sign = DIALECTS[dialect]
  const body = Buffer.from(bytes)
  return () => {
    const number = nextId++
    writeId(body, idAt, number)
    let head = `POST / HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n`
    const headers = sign(body, Math.floor(Date.now() / 1000), `msg_${number}`)
    for (const name in headers) head += `${name}: ${headers[name]}\r\n`
    const request = Buffer.allocUnsafe(head.length + 2 + body.length)
    const end = request.latin1Write(`${head}\r\n`)
    request.set(body, end)
    return request
  }
}

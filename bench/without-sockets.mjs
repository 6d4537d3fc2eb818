/**
 * `node bench/without-sockets.mjs <hand|ackhook> [bytes] [batches]`: processor time a request of one receiver on `node:http`
 * without sockets, so that neither the kernel nor a sender takes part. Made to be run under `--cpu-prof`,
 * `--heap-prof` or `--trace-gc-nvp`. A process measures one receiver: two in one would share each other's garbage.
 */
import { createServer } from 'node:http'
import { Duplex } from 'node:stream'
import { DIALECTS } from './lib/dialects.mjs'
import { eventBody, writeId } from './lib/event-body.mjs'
import { median } from './lib/rounds.mjs'
import { variants } from './servers/node-http.mjs'

const WARM_UP = 15
const REQUESTS = 640
const CONNECTIONS = 32
const [who = 'ackhook', bytes = '300', batches = '100'] = process.argv.slice(2)
const body = eventBody(Number(bytes))
let nextId = 1e9

class Connection extends Duplex {
  answered = () => {}
  _read() {}
  _write(chunk, _encoding, done) {
    done()
    if (!chunk.latin1Slice(0, 12).startsWith('HTTP/1.1 20')) throw new Error(chunk.latin1Slice())
    this.answered()
  }
  setTimeout() {
    return this
  }
  setNoDelay() {}
  setKeepAlive() {}
}

const server = createServer(await variants[who === 'hand' ? 'hand-written' : who]())
const connections = Array.from({ length: CONNECTIONS }, () => {
  const connection = new Connection()
  server.emit('connection', connection)
  return connection
})

const microseconds = []
for (let batch = 0; batch < WARM_UP + Number(batches); batch++) {
  const requests = Array.from({ length: REQUESTS }, signedRequest)
  const before = process.cpuUsage()
  await send(requests)
  const { user, system } = process.cpuUsage(before)
  if (batch >= WARM_UP) microseconds.push((user + system) / REQUESTS)
}
process.stdout.write(
  `${who}, ${bytes} B: ${median(microseconds).toFixed(1)} µs of processor time a request\n`,
)
process.exit()

/** One request at a time on each connection. */
function send(requests) {
  let next = 0
  let open = requests.length
  return new Promise(resolve => {
    for (const connection of connections) {
      const push = () => next < requests.length && connection.push(requests[next++])
      connection.answered = () => {
        open--
        if (open === 0) setImmediate(resolve)
        else setImmediate(push)
      }
      setImmediate(push)
    }
  })
}

function signedRequest() {
  const bytes = Buffer.from(body.bytes)
  writeId(bytes, body.idAt, nextId++)
  const headers = {
    'content-length': bytes.length,
    ...DIALECTS.service(bytes, Math.floor(Date.now() / 1000), ''),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${lines.join('')}\r\n`
  return Buffer.concat([Buffer.from(head), bytes])
}

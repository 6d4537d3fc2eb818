// Attacks a receiver on this machine, and reports how far it has come: `attacker-child.mjs <port> <path> <attack> <times> <pauseMs>`.
import { connect } from 'node:net'
import { ATTACKS } from './attacks.mjs'

const [port, path, name, times, pauseMs] = process.argv.slice(2)
/** Connects this many at a time: Node accepts one connection in a turn, and others would wait behind them in any server. */
const AT_ONCE = 20
const BYTES = Buffer.alloc(1_048_576, 'x')

const progress = { wanted: 0, begun: 0, given: {} }
const waiting = []
let connecting = 0

for (const one of ATTACKS[name]) {
  const count = Math.ceil(one.connections * Number(times))
  progress.wanted += count
  for (let i = 0; i < count; i++) waiting.push({ one, isNew: true })
}
connectNext()
process.on('message', () => process.send(progress))
process.on('disconnect', () => process.exit())

function connectNext() {
  while (connecting < AT_ONCE && waiting.length > 0) {
    connecting++
    attack(waiting.shift())
  }
}

/** Whoever gets a reply, or is cut off, comes back. */
function attack({ one, isNew }) {
  const socket = connect(Number(port), '127.0.0.1')
  let stop
  let isConnected = false
  socket.on('connect', () => {
    isConnected = true
    connecting--
    stop = upload(socket, one)
    if (isNew) progress.begun++
    connectNext()
  })
  socket.on('error', () => {})
  socket.on('data', bytes => {
    const status = bytes.toString('latin1', 9, 12)
    progress.given[status] = (progress.given[status] ?? 0) + 1
    socket.destroy()
  })
  socket.on('close', () => {
    if (!isConnected) connecting--
    stop?.()
    setTimeout(() => {
      waiting.push({ one, isNew: isNew && !isConnected })
      connectNext()
    }, Number(pauseMs))
  })
}

function upload(socket, { length, first, more, everyMs }) {
  const framing = length === undefined ? 'transfer-encoding: chunked' : `content-length: ${length}`
  const head = ['host: a', 'content-type: application/json', 'x-service-signature: t=1,v1=00', framing]
  socket.write(`POST ${path} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`)
  let left = length === undefined ? Number.POSITIVE_INFINITY : length - 1
  const send = bytes => {
    const part = BYTES.subarray(0, Math.min(bytes, left))
    if (part.length === 0) return
    left -= part.length
    if (length === undefined) socket.write(`${part.length.toString(16)}\r\n${part}\r\n`)
    else socket.write(part)
  }
  send(first)
  if (more === undefined) return undefined
  const timer = setInterval(() => send(more), everyMs)
  return () => clearInterval(timer)
}

import { createServer } from 'node:http'
import { createReceiver } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { readRawBody } from '../../packages/core/dist/node/raw-body.js'
import { writeReply } from '../../packages/core/dist/node/write-reply.js'
import { replyFor } from '../../packages/core/dist/reply.js'
import { createReceiverByHand, readBody } from '../by-hand/receiver.mjs'
import { SECRET } from '../lib/dialects.mjs'
import { handleEvent } from '../lib/handler.mjs'

const ACC = replyFor('accepted')
const LIM = { maxBytes: 1e6, timeoutMs: 10000 }
const mk = () => {
  const r = createReceiver({ secret: SECRET, capacity: 1_000_000 })
  r.on('conversation.resolved', handleEvent)
  return r
}
const v = {
  a: () => {
    const receive = createReceiverByHand(SECRET, handleEvent)
    return (q, s) => readBody(q, b => s.writeHead(receive(q.headers['x-service-signature'], b)).end())
  },
  b: () => {
    const receive = createReceiverByHand(SECRET, handleEvent)
    return (q, s) =>
      readBody(q, b => {
        receive(q.headers['x-service-signature'], b)
        writeReply(q, s, ACC)
      })
  },
  c: () => {
    const receive = createReceiverByHand(SECRET, handleEvent)
    return (q, s) => {
      readRawBody(q, LIM).then(b => {
        s.writeHead(receive(q.headers['x-service-signature'], b)).end()
      })
    }
  },
  d: () => {
    const r = mk()
    return (q, s) =>
      readBody(q, b => {
        r.handle({ method: 'POST', headers: q.headers, body: b, context: q }).then(x =>
          s.writeHead(204).end(),
        )
      })
  },
  e: () => toNodeHandler(mk()),
}
export function listen(name) {
  const server = createServer(v[name]())
  return new Promise(r => server.listen(0, '127.0.0.1', () => r(server.address().port)))
}

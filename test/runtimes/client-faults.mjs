import { createServer } from 'node:http'

/** Replies by the first part of the path. A path that begins with `recovers` gets 503 the first time. */
export function startFaults() {
  const seen = new Set()
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const [, name = ''] = request.url.split('/')
    const isRepeated = seen.has(name)
    seen.add(name)
    const { authorization, 'content-type': type } = request.headers
    const isRight =
      authorization === 'Bearer the-key' &&
      type === 'application/json' &&
      request.url.endsWith('/v1/messages')
    if (!isRight || request.method !== 'POST') return response.writeHead(400).end()
    answer(name.split('-')[0], response, body, isRepeated)
  })
  return new Promise(resolve => {
    server.listen(0, '127.0.0.1', () => resolve({ url: `http://127.0.0.1:${server.address().port}`, close }))
  })

  function close() {
    server.closeAllConnections()
    server.close()
  }
}

function answer(name, response, body, isRepeated) {
  switch (name) {
    case 'ok':
      return response.writeHead(202).end(body)
    case 'empty':
      return response.writeHead(204).end()
    case 'broken':
      response.writeHead(202, { 'content-length': '1000' })
      return response.write('{"id":', () => setTimeout(() => response.socket?.resetAndDestroy(), 50))
    case 'huge':
      return response.writeHead(202).end(Buffer.alloc(4 * 1_048_576, 'x'))
    case 'reset':
      return response.socket.resetAndDestroy()
    case 'redirect':
      return response.writeHead(307, { location: '/ok/v1/messages' }).end()
    case 'invalid':
      return response.writeHead(422).end('{"field":"to"}')
    case 'recovers':
      if (isRepeated) return response.writeHead(202).end(body)
      return response.writeHead(503, { 'retry-after': '0' }).end()
  }
}

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { curlOf as curlOfPage } from '../../../ui/src/emulator/curl-of.ts'
import { curlOf } from '../src/command/curl-of.ts'

/** Every character that a shell can pass, and a few longer ones. Read from a file, it would be another body. */
const BODY = `@/etc/passwd${Array.from({ length: 255 }, (_, i) => String.fromCharCode(i + 1)).join('')}\r\n€😀\n`

test.each([
  ['the command line', (url: string) => curlOf({ url, headers: {}, body: BODY })],
  [
    'the page',
    (url: string) => curlOfPage({ log: [{ url, requestHeaders: {} }], body: { text: BODY } } as never),
  ],
])('the command of %s sends each byte, also of a body that begins with @', async (_, commandOf) => {
  let received = ''
  const server = createServer(async (request, response) => {
    received = (await buffer(request)).toString()
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await promisify(execFile)('sh', ['-c', commandOf(`http://127.0.0.1:${port}/`)])
  server.close()
  expect(received).toBe(BODY)
})

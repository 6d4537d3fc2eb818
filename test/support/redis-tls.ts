import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { type RedisServer, startRedis } from './redis.ts'
import { selfSigned } from './self-signed.ts'

/** A real redis-server with TLS on one port, and without it on another. */
export interface TlsRedis {
  /** A `rediss://` address, with a certificate that only `ca` signs. */
  readonly url: string
  /** The same port without TLS: a mistake. */
  readonly urlWithoutTls: string
  /** TLS on the port without it: also a mistake. */
  readonly urlOfPlainPort: string
  readonly ca: string
  readonly server: RedisServer
  stop(): Promise<void>
}

export async function startTlsRedis(): Promise<TlsRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-tls-'))
  const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')] as const
  const { key, cert } = selfSigned()
  writeFileSync(keyFile, key)
  writeFileSync(certificateFile, cert)
  const port = await freePort()
  const server = await startRedis({
    config: {
      'tls-port': String(port),
      'tls-cert-file': certificateFile,
      'tls-key-file': keyFile,
      'tls-ca-cert-file': certificateFile,
      'tls-auth-clients': 'no',
    },
  })
  return {
    url: `rediss://127.0.0.1:${port}`,
    urlWithoutTls: `redis://127.0.0.1:${port}`,
    urlOfPlainPort: server.url.replace('redis:', 'rediss:'),
    ca: cert,
    server,
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

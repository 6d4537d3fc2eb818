import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { type RedisServer, startRedis } from './redis.ts'
import { requireProgram } from './require-program.ts'

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
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')] as const
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  execFileSync(requireProgram('openssl'), ['req', ...kind, ...subject, '-keyout', key, '-out', certificate], {
    stdio: 'ignore',
  })
  const port = await freePort()
  const server = await startRedis({
    config: {
      'tls-port': String(port),
      'tls-cert-file': certificate,
      'tls-key-file': key,
      'tls-ca-cert-file': certificate,
      'tls-auth-clients': 'no',
    },
  })
  return {
    url: `rediss://127.0.0.1:${port}`,
    urlWithoutTls: `redis://127.0.0.1:${port}`,
    urlOfPlainPort: server.url.replace('redis:', 'rediss:'),
    ca: readFileSync(certificate, 'utf8'),
    server,
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

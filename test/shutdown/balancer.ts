import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { onTestFinished, vi } from 'vitest'

const PROBE_EVERY_MS = 100

/**
 * A load balancer as in an orchestrator: sends each request to the next ready process, over keep-alive connections. It
 * never retries: a request without a reply gets 502.
 */
export class Balancer {
  readonly #ports = new Set<number>()
  readonly #ready = new Set<number>()
  readonly #agent = new Agent({ keepAlive: true })
  #turn = 0
  port = 0

  static async start(): Promise<Balancer> {
    const balancer = new Balancer()
    const server = createServer((incoming, outgoing) => void balancer.#forward(incoming, outgoing))
    server.listen(0, '127.0.0.1')
    const timer = setInterval(() => void balancer.#probeAll(), PROBE_EVERY_MS)
    onTestFinished(() => {
      clearInterval(timer)
      balancer.#agent.destroy()
      server.closeAllConnections()
      server.close()
    })
    await vi.waitFor(() => {
      balancer.port = (server.address() as AddressInfo).port
    })
    return balancer
  }

  /** Resolves once the balancer sends requests to the port. */
  async add(port: number): Promise<void> {
    this.#ports.add(port)
    await vi.waitFor(() => {
      if (!this.#ready.has(port)) throw new Error(`${port} is not ready.`)
    })
  }

  remove(port: number): void {
    this.#ports.delete(port)
    this.#ready.delete(port)
  }

  async #probeAll(): Promise<void> {
    for (const port of this.#ports) {
      const isReady = await fetch(`http://127.0.0.1:${port}/health/ready`).then(
        reply => reply.status === 200,
        () => false,
      )
      if (!this.#ports.has(port)) continue
      if (isReady) this.#ready.add(port)
      else this.#ready.delete(port)
    }
  }

  async #forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming)
    const ports = [...this.#ready]
    const port = ports[this.#turn++ % ports.length] ?? 0
    const { method, url: path, headers } = incoming
    const onward = request({ host: '127.0.0.1', port, method, path, headers, agent: this.#agent }, reply => {
      outgoing.writeHead(reply.statusCode ?? 502)
      reply.pipe(outgoing)
    })
    onward.on('error', error => outgoing.writeHead(502).end(String(error)))
    onward.end(body)
  }
}

// Types of other runtimes that the documentation's code uses. Their own type packages replace Node's, so the two cannot
// be installed together.

declare const Bun: {
  serve(options: {
    readonly port?: number
    readonly routes?: Record<string, { POST(request: Request): Response | Promise<Response> }>
    readonly fetch?: (request: Request) => Response | Promise<Response>
  }): { readonly port: number | undefined; stop(): Promise<void> }
}

declare const Deno: {
  readonly env: { get(name: string): string | undefined }
  serve(
    options: { readonly port: number },
    handler: (request: Request) => Response | Promise<Response>,
  ): { shutdown(): Promise<void> }
  addSignalListener(signal: string, listener: () => void): void
}

declare module 'cloudflare:workers' {
  import type { EventIdsBinding, QueueBinding } from '@ackhook/cloudflare'

  export const env: {
    readonly SIGNING_SECRET: string
    readonly EVENTS: QueueBinding
    readonly DEAD_LETTERS: QueueBinding
    readonly EVENT_IDS: EventIdsBinding
    readonly RECORDED: { put(name: string, text: string): Promise<unknown> }
  }
  export function waitUntil(work: Promise<unknown>): void
}

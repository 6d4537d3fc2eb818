import { ConfigurationError } from '@ackhook/core'
import { fromNodeRequest, writeReply } from '@ackhook/core/node'
import { replyTo } from '@ackhook/core/spi'
import {
  HttpException,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
  VersioningType,
} from '@nestjs/common'
import type {
  ApplicationConfig,
  ExternalContextCreator,
  HttpAdapterHost,
  ModulesContainer,
} from '@nestjs/core'
import { onAdapter } from './adapter-host.ts'
import { findHandlers, refuseUnknownReceivers } from './handlers.ts'
import type { NestReceiver, SplitOptions } from './options.ts'
import { type Adapter, type Call, mountFirst, mountLast, Path } from './route.ts'

export interface HostParts {
  readonly name: string
  readonly token: symbol
  readonly options: SplitOptions
  readonly receiver: NestReceiver
  readonly adapterHost: HttpAdapterHost
  readonly modules: ModulesContainer
  readonly config: ApplicationConfig
  readonly external: ExternalContextCreator
}

/** Follows the life of the app with one receiver: mounts its route, registers its handlers, starts and drains it. */
export class WebhooksHost implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  readonly #parts: HostParts
  readonly #route: { readonly path: () => Path | undefined; readonly handle: (call: Call) => void }
  #path: Path | undefined
  #run: ((call: Call) => void) | undefined

  constructor(parts: HostParts) {
    this.#parts = parts
    this.#route = { path: () => this.#path, handle: call => this.#run?.(call) }
    this.#orderHooks()
    onAdapter(parts.adapterHost, adapter => mountFirst(adapter, this.#route))
  }

  get name(): string {
    return this.#parts.name
  }

  /** Runs after those of the other modules: their providers exist, and the app's settings are final. */
  onModuleInit(): void {
    const { name, modules, receiver, adapterHost } = this.#parts
    const found = findHandlers(modules)
    refuseUnknownReceivers(
      found,
      this.#hosts().map(one => one.name),
    )
    for (const { subscription, handler } of found)
      if (subscription.receiver === name) receiver.on(subscription.type as never, handler as never)
    this.#path = new Path(this.#ownPath())
    this.#run = this.#keepsEnhancers() ? this.#withEnhancers() : call => this.#write(call)
    const adapter = adapterHost.httpAdapter as Adapter | null | undefined
    if (adapter) mountLast(adapter, this.#route)
  }

  async onApplicationBootstrap(): Promise<void> {
    const { receiver, adapterHost } = this.#parts
    await receiver.start()
    if (this.#hosts()[0] !== this) return
    if (adapterHost.httpAdapter) adapterHost.listen$?.subscribe(() => setImmediate(tellOfSignals))
    else setTimeout(tellOfSignals, WORKER_MS).unref()
  }

  /** Runs before those of the other modules: handlers may use what these close. */
  async onModuleDestroy(): Promise<void> {
    // All at one time: Nest calls one module after the other.
    await Promise.all(this.#hosts().map(one => one.#parts.receiver.close()))
  }

  /**
   * Nest calls the hooks of modules by their distance from the root module, the most distant first, and in the reverse order
   * at the end. A module outside of this order is the last to start and the first to stop.
   */
  #orderHooks(): void {
    const { modules, token } = this.#parts
    for (const module of modules.values()) if (module.providers.has(token)) module.distance = -1
  }

  #hosts(): readonly WebhooksHost[] {
    const providers = [...this.#parts.modules.values()].flatMap(module => [...module.providers.values()])
    return providers.flatMap(({ instance }) => (instance instanceof WebhooksHost ? [instance] : []))
  }

  /** Throws if another receiver has the same path, and would get all of this one's requests or none. */
  #ownPath(): string {
    const path = this.#fullPath()
    const nameless = (one: string): string => one.replaceAll(/:[^/]+/g, ':')
    const other = this.#hosts().find(one => one !== this && nameless(one.#fullPath()) === nameless(path))
    if (other === undefined) return path
    throw new ConfigurationError(
      'path',
      `'${this.name}' and '${other.name}' both have /${path}: give one of them another`,
    )
  }

  #fullPath(): string {
    const { options, config } = this.#parts
    const { path, keep } = options
    const prefix = keep.has('prefix') ? config.getGlobalPrefix() : ''
    const version = keep.has('versioning') ? versionOf(config) : ''
    return [prefix, version, path]
      .map(one => one.replace(/^\/|\/$/g, ''))
      .filter(Boolean)
      .join('/')
  }

  #keepsEnhancers(): boolean {
    const { keep } = this.#parts.options
    return keep.has('guards') || keep.has('interceptors') || keep.has('filters')
  }

  /** Runs the app's global guards and interceptors before the request is read. */
  #withEnhancers(): (call: Call) => void {
    const { external, options } = this.#parts
    const { keep } = options
    const gate = new WebhookRoute(call => this.#write(call))
    const handle = gate.handle as (...args: unknown[]) => Promise<void>
    const enhancers = { guards: keep.has('guards'), interceptors: keep.has('interceptors'), filters: false }
    const enhanced = external.create(
      gate,
      handle,
      'handle',
      undefined,
      undefined,
      undefined,
      undefined,
      enhancers,
    )
    return call => {
      const refused = (error: unknown): void => (keep.has('filters') ? call.fail(error) : refuse(call, error))
      enhanced(...call.platform, call).catch(refused)
    }
  }

  async #write({ context, response, take }: Call): Promise<void> {
    take()
    const reply = await replyTo(this.#parts.receiver, fromNodeRequest(context.request, context))
    await writeReply(context.request, response, reply)
  }
}

/** What guards see as the class and the method of the route. */
class WebhookRoute {
  readonly #write: (call: Call) => Promise<void>

  constructor(write: (call: Call) => Promise<void>) {
    this.#write = write
  }

  handle(_request: unknown, _reply: unknown, call: Call): Promise<void> {
    return this.#write(call)
  }
}

/** Replies as Nest does without filters. */
function refuse({ context, response, take }: Call, error: unknown): void {
  take()
  const isHttp = error instanceof HttpException
  const status = isHttp ? error.getStatus() : 500
  const body = JSON.stringify({
    statusCode: status,
    message: isHttp ? error.message : 'Internal server error',
  })
  const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
  void writeReply(context.request, response, { status, headers, body })
}

function versionOf(config: ApplicationConfig): string {
  const versioning = config.getVersioning()
  if (versioning?.type !== VersioningType.URI)
    throw new ConfigurationError(
      'keep',
      "'versioning' needs enableVersioning({ type: VersioningType.URI, defaultVersion })",
    )
  const [version] = [versioning.defaultVersion].flat()
  if (typeof version !== 'string')
    throw new ConfigurationError(
      'keep',
      "'versioning' needs a defaultVersion, or write the version into path",
    )
  return `${versioning.prefix === false ? '' : (versioning.prefix ?? 'v')}${version}`
}

/** A worker enables its hooks once its context exists. */
const WORKER_MS = 1000

function tellOfSignals(): void {
  if (process.listenerCount('SIGTERM') > 0) return
  new Logger('Webhooks').warn(
    '[shutdown_hooks_missing] SIGTERM ends this process at once, and cuts handlers off. Call app.enableShutdownHooks() before app.listen().',
  )
}

import { ConfigurationError, createReceiver } from '@ackhook/core'
import type { DynamicModule, FactoryProvider, Provider } from '@nestjs/common'
import { ApplicationConfig, ExternalContextCreator, HttpAdapterHost, ModulesContainer } from '@nestjs/core'
import { nestLogger } from './nest-logger.ts'
import {
  type AsyncOptions,
  DEFAULT_NAME,
  type ModuleOptions,
  type NestReceiver,
  receiverToken,
  type SplitOptions,
  splitOptions,
} from './options.ts'
import { type HostParts, WebhooksHost } from './webhooks-host.ts'

/**
 * Receives webhooks in a Nest app, on Express or Fastify. The route gets exact bytes, whatever parsers, limits, guards, pipes,
 * prefix and versions the app has. Handlers are methods with `@OnWebhook`. Processing starts after all `onApplicationBootstrap`
 * hooks, and drains in `onModuleDestroy`, before the other modules' hooks: call `app.enableShutdownHooks()`. Nest's logger is
 * the default, and {@link NestContext} the context of `secret` and `namespace`.
 *
 * @example
 * const webhooks = WebhooksModule.forRoot({ secret: process.env['SIGNING_SECRET'] })
 */
// biome-ignore lint/complexity/noStaticOnlyClass: Nest identifies modules by classes
export class WebhooksModule {
  /** Creates the module from options. The app does not start if one is wrong. */
  static forRoot(options: ModuleOptions): DynamicModule {
    return moduleOf(options?.name, { useFactory: () => splitOptions(options) })
  }

  /**
   * Creates the module from options that other providers give, such as a `ConfigService` or an inbox.
   *
   * @example
   * WebhooksModule.forRootAsync({
   *   inject: [ConfigService],
   *   useFactory: (config: ConfigService) => ({ secret: config.getOrThrow('SIGNING_SECRET') }),
   * })
   */
  static forRootAsync<Providers extends readonly unknown[]>({
    name,
    imports,
    inject,
    useFactory,
  }: AsyncOptions<Providers>): DynamicModule {
    return moduleOf(name, {
      ...(imports !== undefined && { imports }),
      ...(inject !== undefined && { inject }),
      useFactory: async (...providers: unknown[]) => {
        const options: ModuleOptions = await useFactory(...(providers as unknown as Providers))
        if (options !== null && typeof options === 'object' && 'name' in options)
          throw new ConfigurationError(
            'name',
            'must be known before the factory runs: write it beside useFactory',
          )
        return splitOptions(options)
      },
    })
  }
}

type Source = Pick<DynamicModule, 'imports'> & Pick<FactoryProvider<SplitOptions>, 'inject' | 'useFactory'>

function moduleOf(name: string = DEFAULT_NAME, { imports, ...source }: Source): DynamicModule {
  if (typeof name !== 'string' || name === '')
    throw new ConfigurationError('name', 'must be a text that is not empty')
  const options = Symbol.for(`ackhook.options.${name}`)
  const token = Symbol.for(`ackhook.host.${name}`)
  const receiver: Provider = {
    provide: receiverToken(name),
    inject: [options],
    useFactory: (split: SplitOptions): NestReceiver =>
      createReceiver({ logger: nestLogger(name), ...split.receiver }) as unknown as NestReceiver,
  }
  const host: Provider = {
    provide: token,
    inject: [
      options,
      receiverToken(name),
      HttpAdapterHost,
      ModulesContainer,
      ApplicationConfig,
      ExternalContextCreator,
    ],
    useFactory: (
      split: SplitOptions,
      made: NestReceiver,
      adapterHost: HttpAdapterHost,
      modules: ModulesContainer,
      config: ApplicationConfig,
      external: ExternalContextCreator,
    ) => hostOf({ name, token, options: split, receiver: made, adapterHost, modules, config, external }),
  }
  return {
    module: WebhooksModule,
    global: true,
    ...(imports !== undefined && { imports }),
    providers: [{ provide: options, ...source }, receiver, host],
    exports: [receiverToken(name)],
  }
}

/** Throws if two modules have one name: a handler could not tell them apart. */
function hostOf(parts: HostParts): WebhooksHost {
  const same = [...parts.modules.values()].filter(module => module.providers.has(parts.token))
  if (same.length < 2) return new WebhooksHost(parts)
  throw new ConfigurationError(
    'name',
    `two modules are called '${parts.name}': give one of them another name`,
  )
}

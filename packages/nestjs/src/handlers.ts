import { ConfigurationError, type EventHandler, type HandlerContext, type WebhookEvent } from '@ackhook/core'
import { ContextIdFactory, ModuleRef, type ModulesContainer } from '@nestjs/core'
import { type Subscription, subscriptionsOf } from './on-webhook.ts'
import type { WebhookInvocation } from './options.ts'

type Module = ModulesContainer extends Map<string, infer One> ? One : never
type Wrapper = Module['providers'] extends Map<unknown, infer One> ? One : never
type Methods = Record<string, (event: WebhookEvent, context: HandlerContext) => unknown>

/** A decorated method, with what runs it. */
export interface Found {
  readonly subscription: Subscription
  /** The class and the method, for messages. */
  readonly place: string
  readonly handler: EventHandler
}

/** Finds the decorated methods of all providers and controllers. */
export function findHandlers(modules: ModulesContainer): readonly Found[] {
  const seen = new Set<unknown>()
  return [...modules.values()].flatMap(module =>
    [...module.providers.values(), ...module.controllers.values()]
      .filter(wrapper => isOwn(wrapper, seen))
      .flatMap(wrapper => handlersOf(module, wrapper)),
  )
}

/** Returns whether this is not another name, or another module's view, of a provider that was seen before. */
function isOwn({ isAlias, instance }: Wrapper, seen: Set<unknown>): boolean {
  if (isAlias || typeof instance !== 'object' || instance === null || seen.has(instance)) return false
  seen.add(instance)
  return true
}

function handlersOf(module: Module, wrapper: Wrapper): Found[] {
  const prototype: object = Object.getPrototypeOf(wrapper.instance)
  return methodsOf(prototype).flatMap(([name, method]) =>
    subscriptionsOf(method).map(subscription => ({
      subscription,
      place: `${prototype.constructor.name}.${name}`,
      handler: handlerOf(module, wrapper, name),
    })),
  )
}

/** A method of a base class counts unless it is overridden. Getters are left alone: they may do anything. */
function methodsOf(prototype: object): [name: string, method: () => unknown][] {
  const methods = new Map<string, () => unknown>()
  for (let one = prototype; one !== null && one !== Object.prototype; one = Object.getPrototypeOf(one)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(one)))
      if (typeof value === 'function' && name !== 'constructor' && !methods.has(name))
        methods.set(name, value)
  }
  return [...methods]
}

function handlerOf(module: Module, wrapper: Wrapper, name: string): EventHandler {
  if (wrapper.isDependencyTreeStatic() && !wrapper.isTransient) {
    const instance = wrapper.instance as Methods
    return (event, context) => instance[name]?.(event, context)
  }
  return async (event, context) => {
    const invocation: WebhookInvocation = { event, context }
    const id = ContextIdFactory.getByRequest(invocation)
    const moduleRef = module.getProviderByKey(ModuleRef).instance as ModuleRef
    moduleRef.registerRequestByContextId(invocation, id)
    const instance: Methods = await moduleRef.resolve(wrapper.token as never, id, { strict: true })
    return instance[name]?.(event, context)
  }
}

/** Throws if a method names a receiver that no module has. */
export function refuseUnknownReceivers(found: readonly Found[], names: readonly string[]): void {
  for (const { subscription, place } of found) {
    const { receiver } = subscription
    if (names.includes(receiver)) continue
    const fix = `${place} names the receiver '${receiver}', which no WebhooksModule has. They have ${names.join(', ')}`
    throw new ConfigurationError('OnWebhook', fix)
  }
}

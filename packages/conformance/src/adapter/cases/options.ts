import type { MaybePromise, Receiver } from '@ackhook/core'
import { until } from '../../lib/until.ts'
import { expectReply } from '../replies.ts'
import {
  type AdapterTarget,
  adapterSuiteOptions,
  type MountedTarget,
  type OwnCase,
  type SuiteReceiverOptions,
} from '../target.ts'
import { exchange } from '../wire/connection.ts'
import { signedEvent } from '../wire/signed-event.ts'
import { withMounted } from './mounted.ts'

type OpenWithOptions = (options: SuiteReceiverOptions) => MaybePromise<AdapterTarget>

/** Cases about options that an adapter must pass on to the receiver it creates. */
export function optionCases(openWithOptions: OpenWithOptions): readonly OwnCase[] {
  return [
    {
      id: 'adapter.options.secret',
      name: "a `secret` function is called with each request's context, and its result decides",
      async run() {
        const contexts = new Set<unknown>()
        const secret = (context: unknown): string => {
          contexts.add(context)
          return contexts.size === 1 ? adapterSuiteOptions.secret : 'whsec_of_another_tenant_01234'
        }
        await withOptions(openWithOptions, { ...adapterSuiteOptions, secret }, async url => {
          expectReply(await exchange(url, signedEvent(adapterSuiteOptions).request), 202, 'accepted')
          expectReply(await exchange(url, signedEvent(adapterSuiteOptions).request), 401, 'unauthorized')
        })
        expectContexts(contexts, 2)
      },
    },
    {
      id: 'adapter.options.namespace',
      name: 'a `namespace` function is called with the context, and the same id in another namespace is another event',
      async run() {
        const contexts = new Set<unknown>()
        const namespace = (context: unknown): string => {
          contexts.add(context)
          return contexts.size === 1 ? 'first' : 'second'
        }
        await withOptions(openWithOptions, { ...adapterSuiteOptions, namespace }, async url => {
          const { request } = signedEvent(adapterSuiteOptions)
          expectReply(await exchange(url, request), 202, 'accepted')
          expectReply(await exchange(url, request), 202, 'accepted')
          expectReply(await exchange(url, request), 200, 'duplicate')
        })
        expectContexts(contexts, 3)
      },
    },
  ]
}

type MountWaiting = (
  receiver: Receiver<never, never>,
  waitUntil: (work: Promise<unknown>) => void,
) => MaybePromise<MountedTarget>

/** Returns a case for platforms that freeze a process after the reply. */
export function waitUntilCases(mountWithWaitUntil: MountWaiting): readonly OwnCase[] {
  return [
    {
      id: 'adapter.wait-until',
      name: "the receiver gets the platform's `waitUntil`, and the work it passes arrives there",
      async run() {
        const waited: unknown[] = []
        const waitUntil = (work: Promise<unknown>): void => void waited.push(work)
        const work = Promise.resolve('the work of the suite')
        await withMounted(
          receiver => mountWithWaitUntil(receiver, waitUntil),
          {},
          async (url, seen) => {
            await exchange(url, signedEvent(adapterSuiteOptions).request)
            const [request] = seen.requests
            if (typeof request?.waitUntil !== 'function') throw new Error('`handle` got no `waitUntil`')
            request.waitUntil(work)
            await until(() => waited.includes(work), 'the platform gets the work')
          },
        )
      },
    },
  ]
}

async function withOptions(
  openWithOptions: OpenWithOptions,
  options: SuiteReceiverOptions,
  test: (url: string) => Promise<void>,
): Promise<void> {
  const target = await openWithOptions(options)
  try {
    await test(target.url)
  } finally {
    await target.close?.()
  }
}

function expectContexts(contexts: ReadonlySet<unknown>, count: number): void {
  if (contexts.size !== count) throw new Error(`${count} requests had ${contexts.size} contexts`)
  for (const context of contexts) {
    if (typeof context !== 'object' || context === null) throw new Error(`the context is ${String(context)}`)
  }
}

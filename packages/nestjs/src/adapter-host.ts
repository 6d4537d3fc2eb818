import { HttpAdapterHost } from '@nestjs/core'
import type { Adapter } from './route.ts'

const waiting = new WeakMap<HttpAdapterHost, ((adapter: Adapter) => void)[]>()

/**
 * Calls `mount` once the app has an adapter, before it adds parsers. In tests that is after the providers exist; Nest 10
 * does not tell, so the host's setter is watched for the first adapter. Never calls it in an app without HTTP.
 */
export function onAdapter(host: HttpAdapterHost, mount: (adapter: Adapter) => void): void {
  const adapter = host.httpAdapter as Adapter | null | undefined
  if (adapter) {
    mount(adapter)
    return
  }
  const others = waiting.get(host)
  others?.push(mount)
  if (others !== undefined) return
  const mounts = [mount]
  waiting.set(host, mounts)
  const own = Object.getOwnPropertyDescriptor(HttpAdapterHost.prototype, 'httpAdapter') as PropertyDescriptor
  Object.defineProperty(host, 'httpAdapter', {
    configurable: true,
    get: () => own.get?.call(host),
    set(value: Adapter | null | undefined) {
      own.set?.call(host, value)
      if (!value) return
      Reflect.deleteProperty(host, 'httpAdapter')
      for (const one of mounts.splice(0)) one(value)
    },
  })
}

import type { DashboardOptions } from '../options/options.ts'
import { createPages } from './pages.ts'

/** The result of `dashboard`. */
export interface Dashboard<Native = unknown> {
  /**
   * Replies to a request below its mount path. Never rejects. `native` is passed to `authorize`: Hono's context, for
   * example.
   */
  fetch(request: Request, native: Native): Promise<Response>
}

/**
 * Pages to watch an inbox and to redrive or discard its dead letters. They work below any path and any prefix that a
 * proxy adds. Throws `ConfigurationError` for a wrong option.
 *
 * @example
 * const pages = dashboard({
 *   receiver: hooks,
 *   authorize: request => (request.headers.get('x-operator') === 'anna' ? 'admin' : false),
 * })
 * app.all('/ops/webhooks/*', c => pages.fetch(c.req.raw, c))
 */
export function dashboard<Native = unknown>(options: DashboardOptions<Native>): Dashboard<Native> {
  const answer = createPages(options)
  return {
    fetch: (request, native) =>
      answer({ request, native, trustsProxy: false, isConsumed: () => request.bodyUsed }),
  }
}

import type { FastifyInstance, HTTPMethods, RouteHandlerMethod } from 'fastify'

const STRATEGY = 'ackhookOtherMethod'
/** Value that the strategy derives from each request. */
const ANY = true

/** Constraint of one route. `isTaken`: the app has its own route for that method and path. */
interface Place {
  isTaken: boolean
}

/**
 * Routes all methods but POST at `path` to `handler`, unless the app has its own route there, registered before or after
 * this one, in any scope. Fastify lets two routes share a method and path if their constraints differ, and accepts no new
 * routes once it is ready. So these routes have a constraint that no request meets if the app has its own route.
 */
export function routeOtherMethods(scope: FastifyInstance, path: string, handler: RouteHandlerMethod): void {
  if (!scope.hasConstraintStrategy(STRATEGY)) {
    // Router entries are bit masks; the type says handlers.
    const storage = newStorage as never
    scope.addConstraintStrategy({ name: STRATEGY, storage, deriveConstraint: () => ANY, validate() {} })
  }
  const methods = scope.supportedMethods.filter(method => method !== 'POST')
  const places = methods.map((method): [method: HTTPMethods, place: Place] => [method, { isTaken: false }])
  for (const [method, place] of places) {
    // Hidden from generated API documents, where each would be an operation, and `QUERY` not a valid one.
    const schema: object = { hide: true }
    scope.route({
      method,
      url: path,
      handler,
      schema,
      exposeHeadRoute: false,
      constraints: { [STRATEGY]: place },
    })
  }
  // Fastify routes a prefix's root with and without a trailing slash.
  const { prefix } = scope
  const urls = path === '/' && prefix !== '' ? [prefix, `${prefix}/`] : [prefix + path]
  scope.addHook('onReady', async () => {
    for (const [method, place] of places) place.isTaken = urls.some(url => scope.hasRoute({ method, url }))
  })
}

/** Creates a store that returns routes as the router's bit mask, by constraint or for a request. */
function newStorage() {
  const routes = new Map<Place, number>()
  return {
    get(key: unknown): number {
      if (key !== ANY) return routes.get(key as Place) ?? 0
      let mask = 0
      for (const [place, bits] of routes) if (!place.isTaken) mask |= bits
      return mask
    },
    set: (place: unknown, bits: number) => void routes.set(place as Place, bits),
  }
}

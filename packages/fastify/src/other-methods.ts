import type { FastifyInstance, HTTPMethods, RouteHandlerMethod } from 'fastify'

const STRATEGY = 'ackhookOtherMethod'
/** Value that the strategy derives from each request. */
const ANY = true

/** The constraint of one route: whether the app has a route of its own in that place. */
interface Place {
  isTaken: boolean
}

/**
 * Routes all methods but POST at `path` to `handler`, unless the app has a route of its own there, before or after this
 * one and in whatever scope. Fastify lets two routes share a place if their constraints differ, and takes no more routes
 * when it knows of all: so these have a constraint, which nothing meets once the app is ready and the place is taken.
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
    scope.route({ method, url: path, handler, exposeHeadRoute: false, constraints: { [STRATEGY]: place } })
  }
  // Fastify answers both forms of the root of a prefix.
  const { prefix } = scope
  const urls = path === '/' && prefix !== '' ? [prefix, `${prefix}/`] : [prefix + path]
  scope.addHook('onReady', async () => {
    for (const [method, place] of places) place.isTaken = urls.some(url => scope.hasRoute({ method, url }))
  })
}

/** Finds the routes of one place, as a bit mask of the router, by their constraint or for a request. */
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

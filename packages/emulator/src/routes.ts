/**
 * Every API call with its method, path, body and reply, and commands that repeat a delivery, for tools. This module runs
 * anywhere and loads nothing else.
 *
 * @module
 */

export { ROUTES, type Route, type RouteName } from './http/openapi/routes.ts'
export type { Schema } from './http/openapi/schema-parts.ts'
export { curlOf, curlOfDelivery, type LoggedDelivery, type PostRequest } from './lib/curl-of.ts'

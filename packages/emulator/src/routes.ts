/**
 * Every call of the API with its method, path, body and reply, for tools. Plain data, which loads nothing else.
 *
 * @module
 */

export { ROUTES, type Route, type RouteName } from './http/openapi/routes.ts'
export type { Schema } from './http/openapi/schema-parts.ts'

/**
 * Every API call with its method, path, body and reply, for tools. This module is plain data and loads nothing else.
 *
 * @module
 */

export { ROUTES, type Route, type RouteName } from './http/openapi/routes.ts'
export type { Schema } from './http/openapi/schema-parts.ts'

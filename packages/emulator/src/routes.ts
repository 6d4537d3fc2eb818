/**
 * Every API call with its method, path, body and reply, and commands and tests that repeat a delivery, for tools. This module runs
 * anywhere and loads nothing else.
 *
 * @module
 */

export { curlOf, curlOfDelivery, type LoggedDelivery, type PostRequest } from './lib/curl-of.ts'
export { isTestable, type TestedEvent, testOf } from './lib/test-of.ts'
export { FAULTS, type FaultPreset, PRESETS } from './shapes/faults.ts'
export type { Field, Table } from './shapes/field.ts'
export { CONTENT_FILTERS, REQUESTS, STATES } from './shapes/requests.ts'
export { operationId, QUERIES, ROUTES, type Route, type RouteName } from './shapes/routes.ts'
export type { Schema } from './shapes/schema.ts'
export { SETTINGS, type Setting, type SettingName } from './shapes/settings.ts'

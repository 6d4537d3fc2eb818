export { captureRawBody } from './capture-raw-body.ts'
export { toNodeHandler } from './to-node-handler.ts'

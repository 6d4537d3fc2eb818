export { captureRawBody } from './capture-raw-body.ts'
// For adapters.
export { readRawBody } from './raw-body.ts'
export { toNodeHandler } from './to-node-handler.ts'
export { writeReply } from './write-reply.ts'

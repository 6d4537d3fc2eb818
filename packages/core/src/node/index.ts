// For adapters.
export { captureRawBody, readRawBody } from './raw-body.ts'
export { toNodeHandler } from './to-node-handler.ts'
export { writeReply } from './write-reply.ts'

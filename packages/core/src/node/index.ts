// For adapters:
export { captureRawBody, fromNodeRequest, readRawBody } from './node-request.ts'
export { toNodeHandler } from './to-node-handler.ts'
export { writeReply } from './write-reply.ts'

// For adapters:
export { fromNodeRequest, isBeingRead, isNodeRequest } from './node-request.ts'
export { captureRawBody, readRawBody } from './raw-body.ts'
export { toNodeHandler } from './to-node-handler.ts'
export { writeReply } from './write-reply.ts'

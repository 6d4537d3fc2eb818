export { type GracefulShutdownOptions, gracefulShutdown, type ShutdownReport } from './graceful-shutdown.ts'
export { nodeHealth } from './node-health.ts'
// Exports for adapters:
export { captureRawBody, fromNodeRequest, readRawBody } from './node-request.ts'
export type { ClosableServer } from './server-closer.ts'
export { toNodeHandler } from './to-node-handler.ts'
export { lingeringBody, writeReply } from './write-reply.ts'

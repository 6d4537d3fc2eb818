export { type SqsInboxOptions, sqsInbox } from './sqs-inbox.ts'
export {
  type SqsBatch,
  type SqsBatchResponse,
  type SqsContext,
  type SqsHandler,
  type SqsRecord,
  toSqsHandler,
} from './to-sqs-handler.ts'

export { createEvent, type EventOverrides, type EventSources } from './create-event.ts'
export { type FakeClock, fakeClock } from './fake-clock.ts'
export { type Random, seededRandom } from './seeded-random.ts'
export { type Attempt, formatTimestamp, type InjectedFault } from './sender/attempts.ts'
export { createSender, type SendAllOptions, type Sender, type SendReport } from './sender/create-sender.ts'
export type { Chance, FaultOptions } from './sender/faults.ts'
export type { EndpointHealth } from './sender/health.ts'
export { type PostResult, post } from './sender/post.ts'
export type { SenderOptions } from './sender/sender-options.ts'
export { type SignOptions, sign } from './sign.ts'
export { type SignedRequest, type SignedRequestOptions, signedRequest } from './signed-request.ts'
export {
  type HandledAttempt,
  type TestDelivery,
  type TestReceiver,
  type TestReceiverOptions,
  testReceiver,
} from './test-receiver.ts'

export { type FakeClock, fakeClock } from './lib/fake-clock.ts'
export { type Random, seededRandom } from './lib/seeded-random.ts'
export {
  type EveryOrderOptions,
  everyOrder,
  type OrderedApp,
  type OrdersTried,
} from './receiver/every-order.ts'
export { recordedEvents } from './receiver/recorded-events.ts'
export type { HandledAttempt, TestDelivery } from './receiver/test-delivery.ts'
export {
  type DeliverEventOptions,
  type TestReceiver,
  type TestReceiverOptions,
  testReceiver,
} from './receiver/test-receiver.ts'
export { createEvent, type EventOverrides, type EventSources } from './requests/create-event.ts'
export { formatTimestamp } from './requests/format-timestamp.ts'
export { type SignOptions, sign } from './requests/sign.ts'
export { type SignedRequest, type SignedRequestOptions, signedRequest } from './requests/signed-request.ts'
export { createSender, type SendAllOptions, type Sender, type SendReport } from './sender/create-sender.ts'
export type { DeliveryOptions } from './sender/delivery-rules.ts'
export type { HealthReport } from './sender/endpoint-health.ts'
export type { Chance, FaultOptions } from './sender/faults.ts'
export { type PostResult, post } from './sender/post.ts'
export type { InjectedFault, SendAttempt } from './sender/send-attempt.ts'
export type { SenderOptions } from './sender/sender-options.ts'

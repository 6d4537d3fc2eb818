export type {
  AttemptView,
  BytesView,
  DeliveryDetail,
  DeliveryView,
  SavedRequest,
} from './api/delivery-view.ts'
export type {
  BatchView,
  BulkResult,
  EmulatorApi,
  EmulatorHealth,
  EndpointResult,
  FailureGroup,
  ListedEvent,
  SentEvent,
  SettingsView,
  StatsBucket,
  StatsView,
  WaitResult,
  WorkspaceView,
} from './api/emulator-api.ts'
export type { ReceiverObservation, ReceiverView } from './api/receiver-view.ts'
export type { EndpointView, HealthView } from './endpoints/endpoint-view.ts'
export { EmulatorError, type EmulatorErrorCode } from './errors/emulator-error.ts'
export type { MessageView } from './messages/message-view.ts'
export type { EmulatorOptions } from './options/emulator-options.ts'
export type { EmulatorFaults, FaultPreset } from './shapes/faults.ts'
export type { Maybe } from './shapes/field.ts'
export type {
  BatchOptions,
  BulkOptions,
  DeliveryKind,
  DeliveryMark,
  DeliverySelection,
  DeliveryState,
  EndpointChange,
  EventFields,
  EventsOptions,
  EventToSend,
  FieldOptions,
  InboundMessage,
  MessageState,
  PageOptions,
  ReplayOptions,
  RotateOptions,
  SendOptions,
  StatsOptions,
  WaitOptions,
} from './shapes/requests.ts'
export type { SettingView } from './shapes/settings.ts'
export type { Emulator } from './start-emulator.ts'
export { startEmulator } from './start-emulator.ts'

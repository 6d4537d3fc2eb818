import type { Duration } from '@ackhook/core'
import type { EndpointView, HealthView } from '../endpoints/endpoint-view.ts'
import type { MessageView } from '../messages/message-view.ts'
import type { EmulatorFaults } from '../shapes/faults.ts'
import type { Maybe } from '../shapes/field.ts'
import type {
  BatchOptions,
  BulkOptions,
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
} from '../shapes/requests.ts'
import type { SettingView } from '../shapes/settings.ts'
import type { DeliveryDetail, DeliveryView, SavedRequest } from './delivery-view.ts'
import type { ReceiverView } from './receiver-view.ts'

/** Result for one event. */
export interface SentEvent {
  /** The event's id. */
  readonly id: string
  /** Deliveries of the event; two if a fault sends it twice. */
  readonly deliveries: readonly DeliveryView[]
}

/** Result of a call about many deliveries. */
export interface BulkResult {
  /** Number of matches, including those of this call. */
  readonly matched: number
  /** Number of deliveries that this call replayed or discarded. */
  readonly done: number
  /** Pass it as `after` to continue; null at the end, or if nothing matches. */
  readonly next: string | null
  /** Filter for the deliveries that a replay made, with all calls that continue it; null for a discard. */
  readonly batch: string | null
}

/** A replay, discard or send of many, under way or ended. It ends with the emulator's process. */
export interface BatchView {
  readonly id: string
  readonly action: 'replay' | 'discard' | 'send'
  /** What it concerns: a filter, or the type of the events. */
  readonly about: string
  readonly total: number
  /** Filter for the deliveries that it makes; null for a discard. */
  readonly batch: string | null
  readonly state: 'running' | 'done' | 'stopped' | 'failed'
  /** Deliveries or events that it has handled. */
  readonly done: number
  readonly startedAt: string
  readonly endedAt: string | null
  /** Reason why it failed. */
  readonly error: string | null
  /** Deliveries that it made: acknowledged ones, those without any reply yet, and the others by their last reply. */
  readonly acknowledged: number
  readonly waiting: number
  readonly failures: readonly { readonly reply: string; readonly count: number }[]
}

/** An event as it was sent, or would have been. */
export interface ListedEvent {
  readonly id: string
  readonly type: string
  readonly createdAt: string
  /** The exact text. */
  readonly body: string
}

/** Undelivered deliveries of one type with the same last reply. */
export interface FailureGroup {
  readonly type: string
  /** Last reply as lists show it: the filter `reply`. */
  readonly reply: string
  readonly count: number
  readonly firstAt: string
  readonly lastAt: string
  /** The one that ended last. */
  readonly sample: DeliveryView
  /** Number over time, in 24 parts from the first to the last of all groups. */
  readonly spark: readonly number[]
}

/** Result of a wait. */
export interface WaitResult {
  /** `true` if the condition was met within the timeout. */
  readonly met: boolean
  /** Number of different events that match. */
  readonly count: number
  /** Matching deliveries, oldest first, at most 200. */
  readonly deliveries: readonly DeliveryView[]
}

/** An interval, with the deliveries created in it by state. */
export interface StatsBucket {
  readonly from: string
  readonly counts: Readonly<Partial<Record<DeliveryState, number>>>
}

/** Deliveries over time. */
export interface StatsView {
  readonly from: string
  readonly to: string
  readonly widthMs: number
  readonly buckets: readonly StatsBucket[]
}

/** The emulator's state. */
export interface EmulatorHealth {
  readonly status: 'ready'
  readonly version: string
  readonly now: string
  readonly counts: Readonly<Record<DeliveryState, number>>
  /**
   * Warnings: endpoints that are unhealthy or acknowledged nothing, workspaces without an endpoint whose events were
   * skipped, too many undelivered deliveries.
   */
  readonly warnings: readonly string[]
  readonly endpoints: readonly ({ readonly workspace: string; readonly paused: boolean } & HealthView)[]
}

/** A workspace. */
export interface WorkspaceView {
  readonly id: string
  readonly createdAt: string
  readonly endpoint: EndpointView | null
}

/** Result of setting an endpoint. */
export interface EndpointResult {
  readonly endpoint: EndpointView
  /** Newly generated secret, returned only once; null if none was generated. */
  readonly secret: string | null
}

/** All settings, and the categories that the platform has announced. */
export interface SettingsView {
  readonly settings: readonly SettingView[]
  readonly categories: readonly string[]
}

/** All operations of the emulator. The HTTP API has the same calls. All reject with `EmulatorError`. */
export interface EmulatorApi {
  /** Accepts an event. Resolves once it is stored. */
  send(type: string, overrides?: EventFields, options?: SendOptions): Promise<SentEvent>
  /** Accepts up to 1,000 events, all or none. */
  sendAll(events: readonly EventToSend[], options?: SendOptions): Promise<readonly SentEvent[]>
  readonly deliveries: {
    list(
      filter?: DeliverySelection,
      page?: PageOptions,
    ): Promise<{ readonly deliveries: readonly DeliveryView[]; readonly next: string | null }>
    get(id: string): Promise<DeliveryDetail>
    /** Asks the receiver's dashboard for its view of the event, if the option `dashboard` is set. */
    receiver(id: string): Promise<ReceiverView>
    /** Groups undelivered deliveries by type and last reply: the hundred largest groups. */
    groups(
      filter?: Omit<DeliverySelection, 'state'>,
    ): Promise<{ readonly groups: readonly FailureGroup[]; readonly counted: number }>
    /** Returns a field of deliveries' events by id: a string, or the JSON text of another value. null if there is none. */
    fields(options: FieldOptions): Promise<{ readonly values: Readonly<Record<string, string | null>> }>
    /** Returns the event, byte for byte. */
    body(id: string): Promise<Uint8Array>
    /** Returns the last request, as a file for `ackhook verify`. Rejects before the first attempt. */
    request(id: string): Promise<SavedRequest>
    /** Sends a delivery again. Returns the new delivery. */
    replay(id: string, options?: ReplayOptions): Promise<DeliveryView>
    /** Starts the next attempt of a pending delivery now. */
    retryNow(id: string): Promise<DeliveryView>
    /** Gives up a pending or undelivered delivery. */
    discard(id: string): Promise<DeliveryView>
    /** Replays matching deliveries, oldest first. */
    replayMatching(options?: BulkOptions): Promise<BulkResult>
    /** Discards matching deliveries, oldest first; only undelivered ones unless the filter has a state. */
    discardMatching(options?: BulkOptions): Promise<BulkResult>
  }
  readonly events: {
    /**
     * Lists each event once, oldest first, whatever became of its delivery: a test source for `reconcile`. The platform
     * publishes no such call.
     */
    list(
      options?: EventsOptions,
    ): Promise<{ readonly events: readonly ListedEvent[]; readonly next: string | null }>
  }
  readonly batches: {
    /** Newest first: those under way, and the last twenty that have ended. */
    list(): Promise<readonly BatchView[]>
    /** Starts a batch. It runs until it ends, is stopped, or this process ends. */
    start(options: BatchOptions): Promise<BatchView>
    get(id: string): Promise<BatchView>
    /** Stops a batch after the step under way. */
    stop(id: string): Promise<BatchView>
  }
  readonly workspaces: {
    list(): Promise<readonly WorkspaceView[]>
    create(id: string): Promise<WorkspaceView>
    /** Removes a workspace with its endpoint. Its deliveries stay in the log. */
    remove(id: string): Promise<void>
  }
  readonly endpoints: {
    get(workspace?: string): Promise<EndpointView>
    /** Creates or changes an endpoint. */
    put(change: EndpointChange, workspace?: string): Promise<EndpointResult>
    /** Removes the endpoint. Pending deliveries become undelivered. */
    remove(workspace?: string): Promise<void>
    /** Sets a new secret, generated by default. Both secrets sign until `overlap` has passed. */
    rotateSecret(options?: RotateOptions, workspace?: string): Promise<EndpointResult>
    /** Stops sending until the endpoint is resumed. */
    pause(workspace?: string): Promise<EndpointView>
    resume(workspace?: string): Promise<EndpointView>
  }
  readonly messages: {
    list(
      page?: PageOptions,
    ): Promise<{ readonly messages: readonly MessageView[]; readonly next: string | null }>
    get(id: string): Promise<MessageView>
    /** Same as `POST /v1/messages`. */
    send(message: Readonly<Record<string, unknown>>): Promise<MessageView>
    /** Makes a message sent, delivered, read or failed, and sends its event. The event type is a guess. */
    advance(
      id: string,
      to: MessageState,
    ): Promise<{ readonly message: MessageView; readonly event: SentEvent }>
    /** Simulates a customer's message, and sends its event. Both are guesses. */
    receive(
      message: Maybe<InboundMessage>,
      workspace?: string,
    ): Promise<{ readonly message: MessageView; readonly event: SentEvent }>
  }
  readonly clock: {
    now(): Promise<string>
    /** Moves the clock forward, and makes the attempts that fall due. */
    advance(by: Duration): Promise<string>
  }
  readonly faults: {
    get(): Promise<EmulatorFaults>
    /** Replaces all faults, from the next attempt on. Returns them, with those of a preset. */
    set(faults: EmulatorFaults): Promise<EmulatorFaults>
  }
  health(): Promise<EmulatorHealth>
  settings(): Promise<SettingsView>
  /** Counts deliveries over time. Default: the last hour in 60 buckets. */
  stats(options?: StatsOptions): Promise<StatsView>
  /** Resolves when the condition is met, or at the timeout. */
  wait(options?: WaitOptions, signal?: AbortSignal): Promise<WaitResult>
  /**
   * Empties the log and the messages, clears health warnings, resumes endpoints, and resets the clock and the faults.
   * `everything` also removes workspaces and endpoints, except the endpoint given at the start.
   */
  reset(options?: { readonly everything?: boolean | undefined }): Promise<void>
}

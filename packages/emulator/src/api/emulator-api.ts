import type { Duration } from '@ackhook/core'
import type { EventOverrides } from '@ackhook/testing'
import type { EndpointView, HealthView } from '../endpoints/endpoint-view.ts'
import type { EndpointChange } from '../endpoints/endpoints.ts'
import type { Maybe } from '../lib/read-fields.ts'
import type { MessageState, MessageView } from '../messages/message-view.ts'
import type { InboundMessage } from '../messages/read-message.ts'
import type { EmulatorFaults } from '../options/emulator-options.ts'
import type { SettingView } from '../options/settings.ts'
import type { DeliveryKind, DeliveryState } from '../storage/delivery-row.ts'
import type { DeliveryDetail, DeliveryView, SavedRequest } from './delivery-view.ts'

/** Filter for deliveries. An omitted field matches any. */
export interface DeliverySelection {
  readonly workspace?: string | undefined
  readonly category?: string | undefined
  /** Type, or pattern as in `on()`: `order.*`. */
  readonly type?: string | undefined
  readonly state?: DeliveryState | undefined
  readonly kind?: DeliveryKind | undefined
  /** Status of the last reply. */
  readonly status?: number | undefined
  /** Id of the event. */
  readonly event?: string | undefined
  /** Id of the message that the event is about. */
  readonly message?: string | undefined
  /** Earliest creation time: ISO 8601, an age (`24h`), `now`, `today` or `yesterday`. `to` is exclusive. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** Part of the event, ignoring case; at least three characters. */
  readonly text?: string | undefined
}

/** A page of a list. */
export interface PageOptions {
  /** `next` of the previous page. */
  readonly after?: string | undefined
  /** Order of the list. Default `'newest'`. */
  readonly order?: 'newest' | 'oldest' | undefined
  /** Default 50, at most 200. */
  readonly limit?: number | undefined
}

/** Fields of an event to send. Omitted fields are generated. */
export interface EventFields extends Maybe<EventOverrides> {
  /** JSON text to send unchanged as `data`, without sample data: `{"price": 1.10}`. Excludes `data`. */
  readonly rawData?: string | undefined
  /** The same seed, from 0 to 2^32 - 1, gives the same sample data. Ids are always new. */
  readonly seed?: number | undefined
}

/** An event to send: its fields, or its exact text in `body`. */
export type EventToSend =
  | (EventFields & { readonly type: string; readonly body?: never })
  | { readonly body: string }

/** Options for sending events. */
export interface SendOptions {
  /** Default `'default'`. */
  readonly workspace?: string | undefined
  /** Faults for these events, instead of the current ones. */
  readonly faults?: EmulatorFaults | undefined
}

/** Result for one event. */
export interface SentEvent {
  /** The event's id. */
  readonly id: string
  /** Deliveries of the event; two if a fault sends it twice. */
  readonly deliveries: readonly DeliveryView[]
}

/** Options for a replay. */
export interface ReplayOptions {
  /**
   * `signed` (default): the same bytes with a new signature. `exact`: the last attempt's exact request, including its
   * signature. `edited`: a new event, with its own id.
   */
  readonly mode?: 'signed' | 'exact' | 'edited' | undefined
  /** Object to merge over the sent `data`. Only for `edited`. */
  readonly data?: Readonly<Record<string, unknown>> | undefined
  /** JSON text that replaces `data`, sent as written. Only for `edited`. */
  readonly rawData?: string | undefined
  /** Exact text to send. If it has the old id, the id is replaced. Only for `edited`. */
  readonly body?: string | undefined
}

/** Options for a call about many deliveries. Each call handles up to 1,000; continue with `after`. */
export interface BulkOptions {
  /** Default: undelivered deliveries. */
  readonly filter?: DeliverySelection | undefined
  /** Counts without changing anything. Default `false`. */
  readonly dryRun?: boolean | undefined
  /** Default and maximum: 1,000. */
  readonly limit?: number | undefined
  /** `next` of the previous call. That of a `dryRun` changes what it counted, and nothing that matches since. */
  readonly after?: string | undefined
}

/** Result of a call about many deliveries. */
export interface BulkResult {
  /** Number of matches, including those of this call. */
  readonly matched: number
  /** Number of deliveries that this call replayed or discarded. */
  readonly done: number
  /** Pass it as `after` to continue; null at the end, or if nothing matches. */
  readonly next: string | null
}

/** Condition of a wait. */
export interface WaitOptions extends DeliverySelection {
  /** Number of different events that must match. Default 1. */
  readonly count?: number | undefined
  /** Waits until no matching event is pending. The default if no filter and no `count` is given. */
  readonly idle?: boolean | undefined
  /** Limit in real time, at most `'60s'`. Default `'10s'`. */
  readonly timeout?: Duration | undefined
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
    rotateSecret(
      options?: { readonly secret?: string | undefined; readonly overlap?: Duration | undefined },
      workspace?: string,
    ): Promise<EndpointResult>
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
    /** Replaces all faults, from the next attempt on. */
    set(faults: EmulatorFaults): Promise<EmulatorFaults>
  }
  health(): Promise<EmulatorHealth>
  settings(): Promise<SettingsView>
  /** Counts deliveries over time. Default: the last hour in 60 buckets. */
  stats(options?: DeliverySelection & { readonly buckets?: number | undefined }): Promise<StatsView>
  /** Resolves when the condition is met, or at the timeout. */
  wait(options?: WaitOptions, signal?: AbortSignal): Promise<WaitResult>
  /**
   * Empties the log and the messages, clears health warnings, resumes endpoints, and resets the clock and the faults.
   * `everything` also removes workspaces and endpoints, except the endpoint given at the start.
   */
  reset(options?: { readonly everything?: boolean | undefined }): Promise<void>
}

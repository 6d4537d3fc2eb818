import type { Duration } from '@ackhook/core'
import type { EventOverrides } from '@ackhook/testing'
import type { EndpointView, HealthView } from '../endpoints/endpoint-view.ts'
import type { EndpointChange } from '../endpoints/endpoints.ts'
import type { Maybe } from '../lib/maybe.ts'
import type { MessageState } from '../messages/message-events.ts'
import type { MessageView } from '../messages/message-view.ts'
import type { InboundMessage } from '../messages/read-message.ts'
import type { EmulatorFaults } from '../options/emulator-options.ts'
import type { SettingView } from '../options/settings.ts'
import type { DeliveryKind, DeliveryState } from '../storage/delivery-row.ts'
import type { DeliveryDetail, DeliveryView, SavedRequest } from './delivery-view.ts'

/** Filter of deliveries. An absent field matches any. */
export interface DeliverySelection {
  readonly workspace?: string | undefined
  readonly category?: string | undefined
  /** A type, or a pattern as `on()` takes it: `order.*`. */
  readonly type?: string | undefined
  readonly state?: DeliveryState | undefined
  readonly kind?: DeliveryKind | undefined
  /** The status of the last reply. */
  readonly status?: number | undefined
  /** The id of the event. */
  readonly event?: string | undefined
  /** The id of the message that the event is about. */
  readonly message?: string | undefined
  /** Created at this time or later, and before `to`: ISO 8601, an age (`24h`), `now`, `today` or `yesterday`. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** Part of the event, in any case; at least three characters. */
  readonly text?: string | undefined
}

/** A page of a list. */
export interface PageOptions {
  /** `next` of the page before. */
  readonly after?: string | undefined
  /** Default `'newest'` first. */
  readonly order?: 'newest' | 'oldest' | undefined
  /** Default 50, at most 200. */
  readonly limit?: number | undefined
}

/** The fields of an event to send. What is left out is made up. */
export interface EventFields extends Maybe<EventOverrides> {
  /** The JSON text of `data`, sent as it is written and without sample data: `{"price": 1.10}`. Not together with `data`. */
  readonly rawData?: string | undefined
  /** The same seed gives the same sample data. The id is a new one each time. A whole number from 0 to 2^32 - 1. */
  readonly seed?: number | undefined
}

/** An event to send: its fields, or its exact text in `body`. */
export type EventToSend =
  | (EventFields & { readonly type: string; readonly body?: never })
  | { readonly body: string }

/** Options of sending events. */
export interface SendOptions {
  /** Default `'default'`. */
  readonly workspace?: string | undefined
  /** Faults of these events, instead of those that are set. */
  readonly faults?: EmulatorFaults | undefined
}

/** Result for one event. */
export interface SentEvent {
  /** The event's id. */
  readonly id: string
  /** Deliveries of the event: two if a fault sends it twice. */
  readonly deliveries: readonly DeliveryView[]
}

/** Options of a replay. */
export interface ReplayOptions {
  /**
   * `signed` (default): the same bytes with a new signature. `exact`: the very request of the last attempt, its old
   * signature included. `edited`: a new event, with its own id.
   */
  readonly mode?: 'signed' | 'exact' | 'edited' | undefined
  /** Object to merge over the sent `data`. Only for `edited`. */
  readonly data?: Readonly<Record<string, unknown>> | undefined
  /** JSON text that replaces `data`, sent as written. Only for `edited`. */
  readonly rawData?: string | undefined
  /** Exact text to send. If it has the old id, the id is replaced. Only for `edited`. */
  readonly body?: string | undefined
}

/** Many deliveries at once. Those of one call are at most 1,000; go on with `after`. */
export interface BulkOptions {
  /** Default: undelivered deliveries. */
  readonly filter?: DeliverySelection | undefined
  /** Counts without changing anything. Default `false`. */
  readonly dryRun?: boolean | undefined
  /** Default and most: 1,000. */
  readonly limit?: number | undefined
  /** `next` of the call before. */
  readonly after?: string | undefined
}

/** The result of a call about many deliveries. */
export interface BulkResult {
  /** Number of matches, including those of this call. */
  readonly matched: number
  /** Number of deliveries that this call replayed or discarded. */
  readonly done: number
  /** Pass it as `after` to go on; null when there is no more. */
  readonly next: string | null
}

/** Condition of a wait. */
export interface WaitOptions extends DeliverySelection {
  /** Number of different events that must match. Default 1. */
  readonly count?: number | undefined
  /** Waits until nothing that matches is pending. The default when neither a filter nor `count` is given. */
  readonly idle?: boolean | undefined
  /** Limit in real time, at most `'60s'`. Default `'10s'`. */
  readonly timeout?: Duration | undefined
}

/** Result of a wait. */
export interface WaitResult {
  /** `true` if the condition held before the time was up. */
  readonly met: boolean
  /** Different events that match. */
  readonly count: number
  /** Matching deliveries, oldest first, at most 200. */
  readonly deliveries: readonly DeliveryView[]
}

/** A time with what happened to the deliveries that were created in it. */
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

/** The state of the emulator. */
export interface EmulatorHealth {
  readonly status: 'ready'
  readonly version: string
  readonly now: string
  readonly counts: Readonly<Record<DeliveryState, number>>
  /**
   * Warnings: endpoints that are unhealthy or acknowledged nothing, workspaces without an endpoint whose events were skipped,
   * too many undelivered deliveries.
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
  /** Shown once: a secret that was made up just now; null otherwise. */
  readonly secret: string | null
}

/** Every setting, and the categories that the platform has announced. */
export interface SettingsView {
  readonly settings: readonly SettingView[]
  readonly categories: readonly string[]
}

/** Everything that the emulator can do. The HTTP API has the same calls. All reject with `EmulatorError`. */
export interface EmulatorApi {
  /** Takes in one event. Resolves once it is stored. */
  send(type: string, overrides?: EventFields, options?: SendOptions): Promise<SentEvent>
  /** Takes in at most 1,000 events, all of them or none. */
  sendAll(events: readonly EventToSend[], options?: SendOptions): Promise<readonly SentEvent[]>
  readonly deliveries: {
    list(
      filter?: DeliverySelection,
      page?: PageOptions,
    ): Promise<{ readonly deliveries: readonly DeliveryView[]; readonly next: string | null }>
    get(id: string): Promise<DeliveryDetail>
    /** The event, byte for byte. */
    body(id: string): Promise<Uint8Array>
    /** The last request, as a file that `ackhook verify` reads. Rejects before the first attempt. */
    request(id: string): Promise<SavedRequest>
    /** Returns the new delivery. */
    replay(id: string, options?: ReplayOptions): Promise<DeliveryView>
    /** Starts the next attempt of a pending delivery now. */
    retryNow(id: string): Promise<DeliveryView>
    /** Gives up a pending or undelivered delivery. */
    discard(id: string): Promise<DeliveryView>
    /** Oldest first. */
    replayMatching(options?: BulkOptions): Promise<BulkResult>
    /** Oldest first; undelivered ones only, unless the filter names another state. */
    discardMatching(options?: BulkOptions): Promise<BulkResult>
  }
  readonly workspaces: {
    list(): Promise<readonly WorkspaceView[]>
    create(id: string): Promise<WorkspaceView>
    /** Removes it with its endpoint. Its deliveries stay in the log. */
    remove(id: string): Promise<void>
  }
  readonly endpoints: {
    get(workspace?: string): Promise<EndpointView>
    /** Creates or changes it. */
    put(change: EndpointChange, workspace?: string): Promise<EndpointResult>
    /** Removes the endpoint. Pending deliveries become undelivered. */
    remove(workspace?: string): Promise<void>
    /** Creates a new secret. Events are signed with both secrets until `overlap` has passed. */
    rotateSecret(
      options?: { readonly secret?: string | undefined; readonly overlap?: Duration | undefined },
      workspace?: string,
    ): Promise<EndpointResult>
    /** Nothing is sent until it is resumed. */
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
    /** Makes it sent, delivered, read or failed, and sends the event of that: its type is a guess. */
    advance(
      id: string,
      to: MessageState,
    ): Promise<{ readonly message: MessageView; readonly event: SentEvent }>
    /** A message of a customer, and its event: all of it is a guess. */
    receive(
      message: Maybe<InboundMessage>,
      workspace?: string,
    ): Promise<{ readonly message: MessageView; readonly event: SentEvent }>
  }
  readonly clock: {
    now(): Promise<string>
    /** Moves the clock forward, and starts each attempt that becomes due on the way, in its turn. */
    advance(by: Duration): Promise<string>
  }
  readonly faults: {
    get(): Promise<EmulatorFaults>
    /** Replaces all of them, from the next attempt on. */
    set(faults: EmulatorFaults): Promise<EmulatorFaults>
  }
  health(): Promise<EmulatorHealth>
  settings(): Promise<SettingsView>
  /** Default: the last hour in 60 buckets. */
  stats(options?: DeliverySelection & { readonly buckets?: number | undefined }): Promise<StatsView>
  /** Resolves at the end of the wait, whether it was met or not. */
  wait(options?: WaitOptions, signal?: AbortSignal): Promise<WaitResult>
  /**
   * Empties the log and the messages, clears health warnings, resumes endpoints, and takes back what the clock was
   * advanced by and the faults that were set. `everything` removes workspaces and endpoints too.
   */
  reset(options?: { readonly everything?: boolean | undefined }): Promise<void>
}

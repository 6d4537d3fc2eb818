/** Binding of a queue, from `queues.producers` of `wrangler.jsonc`. */
export interface QueueBinding {
  send(
    message: Uint8Array,
    options: { readonly contentType: 'bytes'; readonly delaySeconds: number },
  ): Promise<unknown>
  /** Absent on older runtimes. */
  metrics?(): Promise<{ readonly backlogCount: number; readonly oldestMessageTimestamp?: Date | undefined }>
}

/** Batch that Workers pass to the export `queue`. */
export interface QueueBatch {
  readonly queue: string
  readonly messages: readonly QueueMessage[]
}

/** One message of a {@link QueueBatch}. */
export interface QueueMessage {
  readonly id: string
  readonly body: unknown
  /** Number of deliveries, including this one. */
  readonly attempts: number
  ack(): void
  retry(options: { readonly delaySeconds: number }): void
}

/** Binding of {@link EventIds}, from `durable_objects.bindings` of `wrangler.jsonc`. */
export interface EventIdsBinding {
  idFromName(name: string): unknown
  get(id: never): EventIdsStub
}

/** One object of an {@link EventIdsBinding}. */
export interface EventIdsStub {
  fetch(address: string, init: { readonly method: 'POST'; readonly body: string }): Promise<StubReply>
}

/** Reply of an {@link EventIdsStub}. */
export interface StubReply {
  readonly status: number
  json(): Promise<unknown>
}

/** State that Workers pass to an {@link EventIds}. */
export interface EventIdsState {
  readonly storage: {
    readonly sql: {
      exec(
        statement: string,
        ...values: readonly unknown[]
      ): { toArray(): Record<string, unknown>[]; readonly rowsWritten: number }
    }
    getAlarm(): Promise<number | null>
    setAlarm(time: number): Promise<void>
  }
}

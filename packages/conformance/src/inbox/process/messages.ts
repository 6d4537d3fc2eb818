import type { Delivery, Observation } from '@ackhook/core'
import type { Attempt, AttemptResult, ProcessingPolicy, PublishedHandlers } from '@ackhook/core/spi'

/** Part of a policy that can be sent to another process. */
export interface PlainPolicy
  extends Omit<ProcessingPolicy, 'clock' | 'observe' | 'logger' | 'handlers' | 'capacityBytes'> {
  readonly published: PublishedHandlers | undefined
}

export const METHODS = [
  'accept',
  'start',
  'close',
  'stats',
  'forget',
  'list',
  'get',
  'redrive',
  'discard',
  'now',
] as const
export type Method = (typeof METHODS)[number]

export type ToInbox =
  | { readonly kind: 'call'; readonly call: number; readonly method: Method; readonly argument: unknown }
  | { readonly kind: 'result'; readonly run: number; readonly result: AttemptResult }

export type FromInbox =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly call: number; readonly value?: unknown; readonly error?: Error }
  | {
      readonly kind: 'run'
      readonly run: number
      readonly delivery: Delivery
      readonly attempt: Pick<Attempt, 'number' | 'decision' | 'routingToken' | 'abandonReason'>
    }
  | { readonly kind: 'aborted'; readonly run: number; readonly reason: Error }
  | { readonly kind: 'observed'; readonly observation: Observation }

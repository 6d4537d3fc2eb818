import { type CallOptions, call } from '../kit/api.ts'
import { addressOf } from './address-of.ts'
import { watchForChanges } from './live.ts'

/** Calls the emulator's own API. */
export function api<T>(path: string, options?: CallOptions): Promise<T> {
  return call<T>(addressOf(path), { ...options, onReply: watchForChanges() })
}

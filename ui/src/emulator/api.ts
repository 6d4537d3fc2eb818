import { type CallOptions, call } from '../kit/api.ts'
import { watchForChanges } from './live.ts'

/** Calls the emulator's own API. */
export function api<T>(path: string, options?: CallOptions): Promise<T> {
  return call<T>(addressOf(path), { ...options, onReply: watchForChanges() })
}

/** Path of the emulator's own API, relative to the page. */
const ROOT = '_emulator/v1/'

/** Returns an API path's address, for a call, a link or a download. */
export function addressOf(path: string): string {
  return ROOT + path
}

import { type CallOptions, call } from '../kit/api.ts'

/** Where the emulator's own API is, seen from the page. */
const ROOT = '_emulator/v1/'

export function api<T>(path: string, options?: CallOptions): Promise<T> {
  return call<T>(ROOT + path, options)
}

/** The address of something to open or download. */
export function addressOf(path: string): string {
  return ROOT + path
}

import type { PageFlags } from './emulator-flags.ts'

/** The page of a list that the flags name, as the API takes it. */
export function pageOf({ limit, after, order }: PageFlags): object {
  return { limit, after, order }
}

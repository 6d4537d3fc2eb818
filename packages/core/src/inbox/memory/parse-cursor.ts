import { ConfigurationError } from '../../errors/errors.ts'

/** The place that a cursor of this inbox names: a sequence number. */
export function parseCursor(after: string | undefined): number | undefined {
  if (after === undefined) return undefined
  if (/^\d{1,15}$/.test(after)) return Number(after)
  throw new ConfigurationError('after', `must be the cursor of the last item of a page; got '${after}'`)
}

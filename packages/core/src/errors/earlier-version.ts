import { AckhookError, DOCS, type ErrorCode } from './errors.ts'

/** The last version with the earlier forms. Nothing is released, so it is a commit. */
export const BEFORE_FIRST_RELEASE = 'Ackhook at commit 09643bf9'

/** What {@link earlierVersion} says besides what was found. */
export interface EarlierVersionParts {
  /** Default `'inbox_unavailable'`. */
  readonly code?: ErrorCode
  /** What the earlier version must do before this one starts. Default: handle or discard the events. */
  readonly let?: string
}

/**
 * Returns the error for what an earlier version stored in a form that this one neither reads nor changes. Says which
 * version empties it.
 * @param found - What was found where, as a sentence without its period.
 */
export function earlierVersion(found: string, parts: EarlierVersionParts = {}): AckhookError {
  const { code = 'inbox_unavailable', let: first = 'handle or discard them' } = parts
  return new AckhookError(
    code,
    `${found}, stored by a version from before the first release. This version leaves them alone: let ${BEFORE_FIRST_RELEASE} ${first}, then start this one. See ${DOCS}reference/stability.md#stored-data`,
  )
}

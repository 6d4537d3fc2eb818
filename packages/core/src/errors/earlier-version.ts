import { AckhookError, DOCS, type ErrorCode } from './errors.ts'

/** Nothing is released, so the last version with the earlier forms is a commit. */
const LAST_COMMIT = '09643bf9'

/**
 * Returns the error for events that an earlier version stored in a form that this one neither reads nor changes. Says
 * which version empties it.
 * @param found - What was found where, as a sentence without its period.
 */
export function earlierVersion(found: string, code: ErrorCode = 'inbox_unavailable'): AckhookError {
  return new AckhookError(
    code,
    `${found}, stored by a version from before the first release. This version leaves them alone: let Ackhook at commit ${LAST_COMMIT} handle or discard them, then start this one. See ${DOCS}reference/stability.md#stored-data`,
  )
}

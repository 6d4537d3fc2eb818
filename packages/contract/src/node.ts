/**
 * Recordings in a folder, on Node.
 *
 * @module
 */

export { readRecordings } from './record/read-recordings.ts'
export { type FolderOptions, toFolder } from './record/to-folder.ts'

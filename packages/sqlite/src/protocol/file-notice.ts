/** A line for the application's log about the place of the file, as plain data. */
export interface FileNotice {
  readonly level: 'info' | 'warn' | 'error'
  readonly code: 'inbox_file_lost' | 'inbox_file_back' | 'inbox_log_saved' | 'events_lost'
  readonly message: string
  /** Number of unfinished events in the file, if that could still be read. */
  readonly events?: number
}

/** What a connection that gives up its file knows of it. */
export interface LeftFile {
  /** Key of the newest event that this process has acknowledged. */
  readonly newest: string | undefined
  readonly events: number | undefined
  /** `saved`: the file has all that the log had. `overwritten`: the log does not belong to what the file has. */
  readonly log: 'saved' | 'gone' | 'overwritten'
}

/** Ends a command. */
export type Finish = (exitCode: number) => void

/** All that a command knows of the world outside: what it prints, asks and is told. */
export interface Terminal {
  /** One line for standard output: the result. */
  out(line: string): void
  /** One line for standard error: everything that is not the result. */
  err(line: string): void
  readonly colours: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Aborted by Ctrl-C or SIGTERM. */
  readonly stop: AbortSignal
  /** Asks without showing what is typed. `undefined` where nobody can answer, or when the user gives up. */
  askSecret(question: string): Promise<string | undefined>
  /** `undefined` where nobody can answer. */
  confirm(question: string): Promise<boolean | undefined>
  /** A bar on a terminal, nothing elsewhere. */
  progress(total: number, label: string): Progress
}

/** How far a long run has got. */
export interface Progress {
  advance(): void
  stop(): void
}

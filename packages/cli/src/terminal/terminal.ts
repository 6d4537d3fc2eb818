/** A command's environment: output, prompts and variables. */
export interface Terminal {
  /** One line for standard output: the result. */
  out(line: string): void
  /** One line for standard error: everything that is not the result. */
  err(line: string): void
  readonly colors: boolean
  /** Width of a terminal; none for a pipe or a file. */
  readonly columns?: number | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Aborted by Ctrl-C or SIGTERM. */
  readonly stop: AbortSignal
  /** Reads all of standard input. Once: a second call resolves with `undefined`. */
  input(): Promise<Uint8Array | undefined>
  /** Prompts without echo. Resolves with `undefined` if the terminal is not interactive or the user cancels. */
  askSecret(question: string): Promise<string | undefined>
  /** Resolves with `undefined` if the terminal is not interactive. */
  confirm(question: string): Promise<boolean | undefined>
  /** Shows a progress bar on a terminal, and nothing elsewhere. */
  progress(total: number, label: string): Progress
}

/** Progress of a long run. */
export interface Progress {
  advance(): void
  stop(): void
}

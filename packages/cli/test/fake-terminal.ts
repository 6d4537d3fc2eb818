import type { Terminal } from '../src/terminal/terminal.ts'

export interface FakeTerminal extends Terminal {
  readonly printed: string[]
  readonly complained: string[]
  readonly asked: string[]
}

/** Creates an interactive terminal whose user gives these answers. */
export function fakeTerminal(
  options: Partial<Terminal> & {
    readonly secret?: string
    readonly sure?: boolean
    /** What standard input holds. */
    readonly piped?: string
  } = {},
): FakeTerminal {
  const printed: string[] = []
  const complained: string[] = []
  const asked: string[] = []
  return {
    printed,
    complained,
    asked,
    out: line => void printed.push(line),
    err: line => void complained.push(line),
    colors: false,
    env: {},
    cwd: process.cwd(),
    stop: new AbortController().signal,
    input: async () => new TextEncoder().encode(options.piped ?? ''),
    async askSecret(question) {
      asked.push(question)
      return options.secret
    },
    async confirm(question) {
      asked.push(question)
      return options.sure
    },
    progress: () => ({ advance() {}, stop() {} }),
    ...options,
  }
}

import { isError } from '../errors/is-error.ts'
import { ROWS, type Row, type Source } from './rows.ts'

/** Whose errors to look for. Those of the network come from each but SQLite. */
export type Server = Exclude<Source, 'network'>

/** What an error means, and what to do about it. */
export interface Advice {
  readonly cause: string
  readonly fix: string
}

/** How many errors deep a cause is looked for. */
const MAX_DEPTH = 6

/**
 * Returns the advice on an error, or on the first of its causes that has a row. `undefined` if the table has none: a guess
 * would send the reader elsewhere. `from`: the servers that it may come from.
 */
export function adviceOn(error: unknown, from: Server | readonly Server[]): Advice | undefined {
  for (const one of withCauses(error)) {
    const found = ROWS.find(row => concerns(row, from) && fits(row, one))
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns `problem` with the error's reason, and with its cause and fix if there is advice. */
export function withAdvice(problem: string, error: unknown, from: Server | readonly Server[]): string {
  const reason = isError(error) ? error.message || error.name : String(error)
  const advice = adviceOn(error, from)
  const said = `${problem} (${reason.replace(/\.$/, '')})`
  return advice === undefined ? `${said}.` : `${said}: ${advice.cause}; ${advice.fix}.`
}

/** SQLite's errors are about files: `EACCES` means no firewall there. */
function concerns({ source }: Row, from: Server | readonly Server[]): boolean {
  return source === 'network' ? from !== 'sqlite' : [from].flat().includes(source)
}

function fits({ source, codes, message }: Row, error: ReadonlyError): boolean {
  if (codes !== undefined) return codes.includes(codeOf(error, source))
  // A server's own text may contain any words: only an error of its kind is read.
  return message!.test(String(error.message))
}

type ReadonlyError = Readonly<Partial<Record<'code' | 'name' | 'message', unknown>>>

function codeOf({ code, name, message }: ReadonlyError, source: Source): string {
  switch (source) {
    case 'redis':
      // Older servers put a text of their own before an error inside a script.
      return name === 'ReplyError'
        ? ((/-([A-Z]+) /.exec(String(message)) ?? /^([A-Z]+) /.exec(String(message)))?.[1] ?? '')
        : ''
    case 'sqlite':
      return /^SQLITE_([A-Z]+)/.exec(String(code))?.[1] ?? ''
    case 'sqs':
      return String(name)
    default:
      return String(code)
  }
}

/** The error, and those inside it: causes, a cluster's `lastNodeError`, and the attempts to reach each address. */
function* withCauses(error: unknown): Generator<ReadonlyError> {
  let next: unknown = error
  for (let depth = 0; depth < MAX_DEPTH && isError(next); depth++) {
    yield next
    const { cause, lastNodeError, errors } = next as {
      readonly cause?: unknown
      readonly lastNodeError?: unknown
      readonly errors?: readonly unknown[]
    }
    next = lastNodeError ?? (Array.isArray(errors) ? errors[0] : undefined) ?? cause
  }
}

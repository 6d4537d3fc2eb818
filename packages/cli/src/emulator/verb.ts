import type { MaybePromise } from '@ackhook/core'
import { QUERIES, ROUTES, type RouteName } from '@ackhook/emulator/routes'
import type { Command } from 'commander'
import { confirmed } from '../command/confirmed.ts'
import { EXIT } from '../command/exit-codes.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { createPaint } from '../terminal/text.ts'
import { withEmulator } from './client.ts'
import { type EndpointFlags, queryOf, withPlace, withQuery, withWorkspace, withYes } from './options.ts'

/** A verb of `ackhook emulator`, from which the program and its help are made. */
export interface Verb<Flags> {
  /** Words after `ackhook emulator`. A first word of two, such as `endpoint`, is also a verb of its own. */
  readonly name: string
  readonly description: string
  /** Arguments in Commander's notation, `<id>` or `[ids...]`, with their meaning. */
  readonly args?: readonly (readonly [name: string, meaning: string])[]
  readonly options?: readonly ((command: Command) => Command)[]
  /** Help text below the options. */
  readonly help?: string
  /** Resolves with the exit code. */
  readonly run: (args: readonly string[], flags: Flags, terminal: Terminal) => Promise<number>
}

/** Flags of a verb that makes one call. */
export interface CallFlags extends EndpointFlags {
  readonly yes?: boolean
}

/** Arguments and flags as typed. */
export interface Typed<Flags> {
  readonly args: readonly string[]
  readonly flags: Flags
  readonly terminal: Terminal
}

/** A verb that makes one API call. Its path, parameters and summary come from the table of routes. */
interface CallVerb<Reply, Flags> extends Pick<Verb<Flags>, 'name' | 'args' | 'options' | 'help'> {
  readonly route: RouteName
  /** Default: the summary of the route. */
  readonly description?: string
  /** Request body. Default: none. */
  readonly body?: (typed: Typed<Flags>) => MaybePromise<object>
  /** Question to confirm first. */
  readonly question?: (typed: Typed<Flags>) => string
  /** Lines printed for the reply. */
  readonly lines: (reply: Reply, typed: Typed<Flags>) => readonly string[]
  /** Value that --json prints. Default: the reply. */
  readonly json?: (typed: Typed<Flags>) => object
  /** Note printed to standard error, with --json too. */
  readonly note?: (reply: Reply) => string | undefined
  /** Decides whether the exit code is 0. Default: always. */
  readonly isGood?: (reply: Reply) => boolean
  /** Names on the command line of body fields with other names. */
  readonly typedAs?: Readonly<Record<string, string>>
}

/** Creates a verb from its route in the table, with its options, path and query. */
export function callVerb<Reply, Flags extends CallFlags = CallFlags>(
  spec: CallVerb<Reply, Flags>,
): Verb<never> {
  const { name, route, description = ROUTES[route].summary, args, help } = spec
  const { query: queryName, body } = ROUTES[route]
  const query = queryName === undefined ? {} : QUERIES[queryName]
  const verb: Verb<Flags> = {
    ...{ name, description, options: optionsOf(spec) },
    ...(args !== undefined && { args }),
    ...(help !== undefined && { help }),
    run(given, flags, terminal) {
      const typed = { args: given, flags, terminal }
      const [method = '', path = ''] = route.split(' ')
      return withEmulator(
        flags,
        terminal,
        async emulator => {
          const { question } = spec
          if (question !== undefined && !(await confirmed(question(typed), flags, terminal)))
            return EXIT.failed
          const reply = await emulator.call<Reply>(method, fullPath(path, typed), {
            query: queryOf(query, flags),
            ...(body !== undefined && { body: (await spec.body?.(typed)) ?? {} }),
          })
          report(spec.json?.(typed) ?? reply, spec.lines(reply, typed), flags, terminal)
          if ('limit' in query && !flags.json) noteMore(reply as Partial<Page>, terminal)
          const note = spec.note?.(reply)
          if (note !== undefined) terminal.err(note)
          return (spec.isGood?.(reply) ?? true) ? EXIT.ok : EXIT.failed
        },
        spec.typedAs,
      )
    },
  }
  return verb as Verb<never>
}

interface Page {
  readonly next: string | null
}

function noteMore({ next = null }: Partial<Page>, { err, colors }: Terminal): void {
  if (next !== null) err(createPaint(colors).dim(`There are more: --after ${next}`))
}

function optionsOf<Reply, Flags>(spec: CallVerb<Reply, Flags>): NonNullable<Verb<Flags>['options']> {
  const { route, options = [], args, question } = spec
  const { query } = ROUTES[route]
  return [
    ...options,
    ...(question === undefined ? [] : [withYes]),
    ...(query === undefined ? [] : [withQuery(QUERIES[query])]),
    ...(args === undefined && route.includes('{workspace}') ? [withWorkspace] : []),
    withPlace,
  ]
}

/** Fills the path's placeholder with the first argument, or with the workspace. */
function fullPath(path: string, { args, flags }: Typed<CallFlags>): string {
  const part = args[0] ?? flags.workspace ?? 'default'
  return path.replace(/\{\w+\}/, encodeURIComponent(part))
}

/** Prints a result, as one line of JSON or as lines of text. */
export function report(
  value: unknown,
  lines: readonly string[],
  { json }: { readonly json?: boolean },
  { out }: Terminal,
): void {
  if (json) out(JSON.stringify(value))
  else for (const line of lines) out(line)
}

import { ROUTES, type RouteName } from '@ackhook/emulator/routes'
import { confirmed } from '../../command/confirmed.ts'
import { EXIT } from '../../command/exit-codes.ts'
import { createPaint } from '../../terminal/paint.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { EndpointFlags } from './emulator-flags.ts'
import { report } from './report.ts'
import { withFilter, withPage, withPlace, withState, withWorkspace, withYes } from './shared-options.ts'
import type { Verb } from './verb.ts'
import { withEmulator } from './with-emulator.ts'

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
  readonly body?: (typed: Typed<Flags>) => object
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

/** Parameters with another name on the command line. */
const FLAG_OF: Readonly<Record<string, string>> = { to: 'until' }

/** Creates a verb from its route in the table, with its options, path and query. */
export function callVerb<Reply, Flags extends CallFlags = CallFlags>(
  spec: CallVerb<Reply, Flags>,
): Verb<never> {
  const { name, route, description = ROUTES[route].summary, args, help } = spec
  const isPage = queryNames(route).includes('limit')
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
            query: queryOf(route, flags),
            ...(ROUTES[route].body !== undefined && { body: spec.body?.(typed) ?? {} }),
          })
          report(spec.json?.(typed) ?? reply, spec.lines(reply, typed), flags, terminal)
          if (isPage && !flags.json) noteMore(reply as Partial<Page>, terminal)
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

function queryNames(route: RouteName): readonly string[] {
  const parameters = ROUTES[route].parameters ?? []
  return parameters.filter(one => one['in'] === 'query').map(one => String(one['name']))
}

function queryOf(route: RouteName, flags: object): object {
  const given = flags as Readonly<Record<string, unknown>>
  return Object.fromEntries(queryNames(route).map(name => [name, given[FLAG_OF[name] ?? name]]))
}

function optionsOf<Reply, Flags>(spec: CallVerb<Reply, Flags>): NonNullable<Verb<Flags>['options']> {
  const { route, options = [], args, question } = spec
  const query = queryNames(route)
  return [
    ...options,
    ...(question === undefined ? [] : [withYes]),
    ...(query.includes('type') ? [withFilter] : []),
    ...(query.includes('state') ? [withState] : []),
    ...(query.includes('limit') ? [withPage] : []),
    ...(args === undefined && route.includes('{workspace}') ? [withWorkspace] : []),
    withPlace,
  ]
}

/** Fills the path's placeholder with the first argument, or with the workspace. */
function fullPath(path: string, { args, flags }: Typed<CallFlags>): string {
  const part = args[0] ?? flags.workspace ?? 'default'
  return path.replace(/\{\w+\}/, encodeURIComponent(part))
}

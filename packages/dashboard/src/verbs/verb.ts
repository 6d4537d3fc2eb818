import type { Inbox, Observation } from '@ackhook/core'
import type { InspectedReceiver } from '@ackhook/core/spi'
import * as v from 'valibot'
import type { View } from '../letters/list-letters.ts'
import type { Outcome as Fates } from '../protocol/outcome.ts'
import { Refused } from '../protocol/refused.ts'
import type { Outcome, VerbAbout } from '../protocol/verbs.ts'
import { joined, type Words } from '../protocol/words.ts'

/** Who asks, what they may see, and how long they wait. */
export interface Caller {
  /** The person, for observations and for lists of what runs. */
  readonly name?: string | undefined
  /** They may see bodies. */
  readonly bodies: boolean
  /** Returns the text to show instead of a body or an error text. */
  readonly redact: View['redact']
  /** They wait over outages, and for results that take a day: the process that asks goes on anyway. */
  readonly isPatient: boolean
  /** Tells what was done. */
  readonly observe: (observation: Observation) => void
  /** The receiver of the process that asks. Absent for a tool. */
  readonly receiver?: Pick<InspectedReceiver, 'outage' | 'silence' | 'isNeverStarted'> | undefined
}

/** How far a verb is. Its members change while it runs. */
export interface Progress {
  /** `changing`: more events follow. `following`: the results of those that were redriven are awaited. */
  readonly state: 'changing' | 'following'
  /** Expected number of events, if it is known. */
  readonly total: number | undefined
  readonly changed: number
  readonly missed: number
  /** Why it waits, or why it ended early. */
  readonly error: string | undefined
  /** What became of redriven events. */
  readonly fates: Fates | undefined
}

/** One use of a verb. */
export interface Call<Args> {
  readonly inbox: Inbox
  readonly args: Args
  readonly caller: Caller
  /** Ends it early. */
  readonly signal: AbortSignal
  /** Called whenever it is further, and before it changes anything. Throws to end it there. */
  readonly progress: (progress: Progress) => void
}

/** What a verb would do, before it does it. */
export interface Plan<Args> {
  /** What to ask a person before. Absent: nothing has to be asked. */
  readonly question?: Words
  /** The arguments that do what the question says. */
  readonly args: Args
}

/**
 * Something that an operator can do with an inbox. The command line, MCP, the HTTP API and the pages are made from this
 * one description.
 */
export interface Verb<Args = unknown> extends VerbAbout {
  /** Describes and checks its arguments. */
  readonly fields: v.GenericSchema<unknown, Args>
  /** Rejects arguments that do not belong together. */
  check?(args: Args): void
  /** Whether it may take minutes: it then goes on after a reply, is listed, and can be stopped. */
  takesTime?(args: Args): boolean
  /** Finds out what to ask before. */
  plan?(call: Call<Args>): Promise<Plan<Args>>
  /** Does it. Rejects with {@link Refused} if the caller can mend it, and with the inbox's error. */
  run(call: Call<Args>): Promise<Outcome>
}

/** A verb as it is written. */
export interface VerbDefinition<Fields extends v.ObjectEntries>
  extends VerbAbout,
    Pick<
      Verb<v.InferOutput<v.StrictObjectSchema<Fields, undefined>>>,
      'check' | 'takesTime' | 'plan' | 'run'
    > {
  readonly fields: Fields
}

/** Makes a verb of a description. */
export function defineVerb<const Fields extends v.ObjectEntries>({
  fields,
  ...definition
}: VerbDefinition<Fields>): Verb {
  return { ...definition, fields: v.strictObject(fields) } as Verb
}

/** Reads the arguments of a verb. Throws {@link Refused} for those that are wrong. */
export function readArgs(verb: Verb, input: unknown): unknown {
  const args = readObject(verb.fields, input)
  verb.check?.(args)
  return args
}

/** Reads an object by its schema. Throws {@link Refused} for a wrong one. */
export function readObject<T>(schema: v.GenericSchema<unknown, T>, input: unknown): T {
  const read = v.safeParse(schema, input)
  if (read.success) return read.output
  throw new Refused('invalid', mistakeOf(schema, read.issues[0]))
}

function mistakeOf(schema: object, issue: v.BaseIssue<unknown>): Words {
  const [item] = issue.path ?? []
  if (item === undefined) return 'give an object with the arguments'
  const field = String(item.key)
  // The message of the object itself is about its names.
  if (issue.type !== 'strict_object') return [{ field }, ` ${issue.message}`]
  if (issue.expected !== 'never') return [{ field }, ' is required']
  const known = Object.keys((schema as { readonly entries: object }).entries)
  const names = joined(
    known.map(name => [{ field: name }]),
    ', ',
  )
  return [{ field }, ' is no argument here: use ', ...names]
}

/** A verb that may be done: what to ask before, and the arguments and the function that do it. */
export interface Prepared extends Plan<unknown> {
  readonly run: () => Promise<Outcome>
}

/** Finds out what a verb would do. */
export async function prepare(verb: Verb, call: Call<unknown>): Promise<Prepared> {
  const plan = (await mendable(verb.plan?.(call))) ?? { args: call.args }
  return { ...plan, run: () => mendable(verb.run({ ...call, args: plan.args })) }
}

/** Does a verb without asking. */
export async function perform(verb: Verb, call: Call<unknown>): Promise<Outcome> {
  return (await prepare(verb, call)).run()
}

/** Tells a wrong cursor, which only the inbox can know, from a failure of the inbox. */
async function mendable<T>(work: T | Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    const { code, option, message } = Object(cause) as Partial<Record<'code' | 'option' | 'message', unknown>>
    if (code !== 'configuration_invalid' || option !== 'after') throw cause
    throw new Refused('invalid', [{ field: 'after' }, String(message).replace(/^Option 'after':|\.$/g, '')], {
      cause,
    })
  }
}

import type { Inbox } from '@ackhook/core'
import type { ResolvedDashboard } from '../options/options.ts'
import { ApiProblem, type Role, type VerbList, type VerbPlan, type VerbReply } from '../protocol/protocol.ts'
import { Refused } from '../protocol/refused.ts'
import { fieldsOf } from '../verbs/describe.ts'
import { VERBS } from '../verbs/table.ts'
import { type Call, type Caller, perform, prepare, readArgs, type Verb } from '../verbs/verb.ts'
import type { Batches } from './batches.ts'

/** Time after which a count ends with where it goes on. */
const COUNTING_MS = 10_000

export const READ_ONLY: ApiProblem = new ApiProblem(403, 'read_only', 'This requires the admin role.')

/** Who asks over HTTP. */
export interface Person {
  readonly role: Role
  readonly name?: string
}

/** `GET api/verbs` */
export function listVerbs(parts: ResolvedDashboard, { role }: Person): VerbList {
  const allowed = VERBS.filter(verb => refusalOf(verb, parts, role) === undefined)
  return {
    verbs: allowed.map(verb => {
      const { name, summary, effect, changes, runsHandlers, isForLetters, words, plan } = verb
      return {
        ...{ name, summary, changes, words },
        fields: fieldsOf(verb),
        ...(effect !== undefined && { effect }),
        ...(runsHandlers === true && { runsHandlers }),
        ...(isForLetters === true && { isForLetters }),
        ...(plan !== undefined && { asks: true as const }),
      }
    }),
  }
}

/** `POST api/verbs/{name}/plan` */
export async function planVerb(
  parts: ResolvedDashboard,
  name: string,
  input: object,
  person: Person,
): Promise<VerbPlan> {
  const verb = verbOf(name, parts, person)
  const call = callOf(parts, readArgs(verb, input), person)
  const { question, args } = await prepare(verb, call)
  // Arguments as they were written, with what the plan has fixed.
  const fixed = { ...(args as object), ...sameNames(input, args as object) }
  return { args: fixed, ...(question !== undefined && { question }) }
}

function sameNames(input: object, args: object): object {
  return Object.fromEntries(Object.entries(input).filter(([name]) => name in args))
}

/** `POST api/verbs/{name}`: a batch for a verb that may take minutes. */
export async function doVerb(
  parts: ResolvedDashboard,
  batches: Batches,
  name: string,
  input: unknown,
  person: Person,
): Promise<VerbReply | Awaited<ReturnType<Batches['start']>>> {
  const verb = verbOf(name, parts, person)
  const args = readArgs(verb, input)
  const call = callOf(parts, args, person)
  return verb.takesTime?.(args) === true ? batches.start(verb, call) : perform(verb, call)
}

function callOf(parts: ResolvedDashboard, args: unknown, { name }: Person): Call<unknown> {
  const { bodies, redact, observe, receiver } = parts
  const caller: Caller = { name, bodies, redact, observe, receiver, isPatient: true }
  const inbox: Inbox = parts.inbox
  return { inbox, args, caller, signal: AbortSignal.timeout(COUNTING_MS), progress() {} }
}

function verbOf(name: string, parts: ResolvedDashboard, { role }: Person): Verb {
  const verb = VERBS.find(one => one.name === name)
  if (verb === undefined) throw new Refused('not_found', 'There is no such verb.')
  const refusal = refusalOf(verb, parts, role)
  if (refusal !== undefined) throw refusal
  return verb
}

function refusalOf(
  { name, changes, readsBodies = false }: Verb,
  { bodies }: ResolvedDashboard,
  role: Role,
): Error | undefined {
  if (changes !== 'nothing' && role !== 'admin') return READ_ONLY
  if (readsBodies && !bodies)
    return new Refused('unsupported', `${name} compares the contents of events, and bodies are hidden here`)
  return undefined
}

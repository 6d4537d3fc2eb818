import { signal } from '@preact/signals'
import type {
  Batch,
  VerbList,
  VerbPlan,
  VerbView,
} from '../../../packages/dashboard/src/protocol/protocol.ts'
import type { Outcome } from '../../../packages/dashboard/src/protocol/verbs.ts'
import { PLAIN, type Speech, say, type Words } from '../../../packages/dashboard/src/protocol/words.ts'
import { call } from '../kit/api.ts'
import { visible } from '../kit/text.ts'

/** What this person may do. Empty until it is loaded. */
export const verbs = signal<readonly VerbView[]>([])

/** Loads what this person may do. Another try follows with the next overview. */
export async function loadVerbs(): Promise<void> {
  if (verbs.peek().length > 0) return
  const list = await call<VerbList>('api/verbs').catch(() => undefined)
  if (list !== undefined) verbs.value = list.verbs
}

/** The verbs whose buttons stand where letters are listed. */
export function letterVerbs(): readonly VerbView[] {
  return verbs.value.filter(({ isForLetters }) => isForLetters === true)
}

/** The key that does it to the letter in view. */
export function keyOf({ name }: VerbView): string {
  return name.charAt(0)
}

/** `redrives`, for the list of keys. */
export function inThirdPerson({ words }: VerbView): string {
  return `${words.label.toLowerCase()}s`
}

/** Does a verb. A batch is still under way, or has just ended. */
export function doVerb(name: string, args: object): Promise<Outcome | Batch> {
  return call(`api/verbs/${name}`, { method: 'POST', body: args })
}

export function planVerb(name: string, args: object): Promise<VerbPlan> {
  return call(`api/verbs/${name}/plan`, { method: 'POST', body: args })
}

export function isBatch(reply: Outcome | Batch): reply is Batch {
  return 'process' in reply
}

/** The name of a field, for a person: `Older than`. */
export function labelOf(field: string): string {
  const words = field.replace(/[A-Z]/g, capital => ` ${capital.toLowerCase()}`)
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

const SPEECH: Speech = {
  ...PLAIN,
  field: (name, value) => (value === undefined ? labelOf(name) : `${labelOf(name)} ${value}`),
  verb: name => verbs.value.find(one => one.name === name)?.words.label ?? name,
}

/** Says a text in the words of the pages. */
export function said(words: Words): string {
  return visible(say(words, SPEECH))
}

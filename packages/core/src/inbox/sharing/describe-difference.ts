import type { HandlerSharing, PublishedHandlers } from '../presence.ts'

const MOST_NAMED = 5
const LONGEST_NAME = 60

/**
 * Describes for an operator how the processes on one inbox differ in the types they handle. `undefined` if they do not.
 */
export function describeDifference(
  own: PublishedHandlers,
  others: readonly PublishedHandlers[],
  { location = 'this inbox', namespace }: Pick<HandlerSharing, 'location' | 'namespace'>,
): string | undefined {
  const mine = new Set(namesOf(own))
  const theirs = new Set(others.flatMap(namesOf))
  const onlyThere = [...theirs].filter(name => !mine.has(name))
  // Lists patterns that some other process lacks, such as an older one during a deployment.
  const onlyHere = [...mine].filter(name => others.some(one => !namesOf(one).includes(name)))
  const differences = [
    onlyHere.length > 0 && `not all others handle ${listOf(onlyHere)}`,
    onlyThere.length > 0 && `this one does not handle ${listOf(onlyThere)}`,
  ].filter(Boolean)
  if (differences.length === 0) return undefined
  const where = typeof namespace === 'string' ? `namespace '${namespace}'` : 'the namespace of each request'
  return `Processes on ${location} handle different types: ${differences.join(', and ')}. Events wait for the process with the more specific handler. During a deployment this is expected. Two services need a file or queue each: sharing one, with one namespace (here ${where}), each treats the other's ids as duplicates.`
}

function namesOf({ patterns, onUnhandled }: PublishedHandlers): readonly string[] {
  return onUnhandled ? [...patterns, 'onUnhandled'] : patterns
}

function listOf(names: readonly string[]): string {
  const named = names
    .slice(0, MOST_NAMED)
    .map(name => `'${name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name}'`)
  const more = names.length - named.length
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ')
}

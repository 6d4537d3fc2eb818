import { type BrowsedEvent, type EventLookup, eventKey, isSealed } from '@ackhook/core/spi'
import { headOf } from '../letters/list-letters.ts'
import type { Block, Fact, Outcome } from '../protocol/verbs.ts'
import type { Words } from '../protocol/words.ts'
import { text } from './fields.ts'
import { NAMESPACE } from './letter-fields.ts'
import { eventData, isoOf } from './read-letters.ts'
import { findLetters, inNamespace } from './targets.ts'
import { type Call, defineVerb, type Verb } from './verb.ts'

interface ShowArgs {
  readonly id: string
  readonly namespace?: string | undefined
}

/** Shows one event, wherever it is: with its body unless it is handled, of which only the id is kept. */
export const show: Verb = defineVerb({
  name: 'show',
  summary: 'Show one event: handled and when, or what waits, runs or failed, with its body',
  changes: 'nothing',
  words: { label: 'Show', doing: 'Looking', done: 'found' },
  fields: { id: text('event id', { isArgument: true }), namespace: NAMESPACE },
  run: showOne,
})

async function showOne(call: Call<ShowArgs>): Promise<Outcome> {
  const { args, inbox, caller } = call
  const { id, namespace } = args
  const [found] = await findLetters({ inbox, redact: caller.redact }, [id], namespace)
  if (found !== undefined && 'target' in found) {
    const letter = await inbox.deadLetters.get(found.target.key)
    if (letter !== undefined) return eventOutcome('dead', letter, call)
  } else if (found !== undefined && typeof found.refusal !== 'string')
    return {
      isDone: false,
      data: { state: null },
      blocks: [{ kind: 'line', words: [`${id} is `, ...found.refusal] }],
    }
  const where = await inbox.lookup?.(await eventKey(namespace ?? '', id))
  if (where === undefined || where.state === 'unknown') return unknown(where, call)
  if (where.state === 'handled') return handled(where, args)
  if (where.event !== undefined) return eventOutcome(where.state, where.event, call)
  return { isDone: true, data: where, blocks: [{ kind: 'line', words: `${id} is ${where.state}.` }] }
}

function eventOutcome(
  state: 'pending' | 'active' | 'dead',
  event: BrowsedEvent,
  { caller }: Call<ShowArgs>,
): Outcome {
  const { id, type, namespace } = event
  const head = headOf(event, caller, state === 'dead')
  const { cursor: _, ...shown } = head
  const body =
    caller.bodies && !isSealed(event)
      ? caller.redact(new TextDecoder().decode(event.body), { id, type, namespace })
      : undefined
  const data = { ...eventData(state === 'dead' ? head : shown), ...(body !== undefined && { body }) }
  const blocks: readonly Block[] = [
    { kind: 'facts', facts: factsOf(state, head) },
    ...(body === undefined ? [] : [{ kind: 'body', text: body } as const]),
  ]
  return {
    isDone: true,
    data: { state, ...(state === 'dead' ? { deadLetter: data } : { event: data }) },
    blocks,
  }
}

function factsOf(state: string, event: BrowsedEvent): readonly Fact[] {
  const { id, type, namespace, receivedAt, attempts, reason, failedAt, dueInMs, trace } = event
  const [, traceId] = trace?.traceparent.split('-') ?? []
  const fact = (label: string, words: Words): Fact => ({ label, words })
  return [
    fact('id', id),
    fact('state', state),
    fact('type', type),
    ...(namespace === '' ? [] : [fact('namespace', namespace)]),
    fact('received', [{ at: receivedAt }]),
    ...(failedAt === undefined ? [] : [fact('failed', [{ at: failedAt }])]),
    fact('attempts', String(attempts)),
    ...(dueInMs === undefined ? [] : [fact('next attempt', `in ${Math.ceil(dueInMs / 1000)} s`)]),
    ...(traceId === undefined ? [] : [fact('trace', traceId)]),
    ...(reason === undefined ? [] : [fact('reason', reason)]),
  ]
}

function handled(
  where: Extract<EventLookup, { state: 'handled' }>,
  { id, namespace = '' }: ShowArgs,
): Outcome {
  const { handledAt, rememberedUntil } = where
  const words: Words = [
    `${id}${inNamespace(namespace)} was handled`,
    ...(handledAt === undefined ? [] : [' at ', { at: handledAt }]),
    '.',
    ...(rememberedUntil === undefined ? [] : [' Its id is remembered until ', { at: rememberedUntil }, '.']),
    ' Its body is no longer kept.',
  ]
  return {
    isDone: true,
    data: {
      state: 'handled',
      ...(handledAt !== undefined && { handledAt: isoOf(handledAt) }),
      ...(rememberedUntil !== undefined && { rememberedUntil: isoOf(rememberedUntil) }),
    },
    blocks: [{ kind: 'line', words }],
  }
}

/** An event that the inbox does not know, or cannot look up. */
function unknown(where: EventLookup | undefined, { args, inbox }: Call<ShowArgs>): Outcome {
  const { id, namespace } = args
  const name = `${id}${inNamespace(namespace ?? '')}`
  const { cannotLookUp } = inbox
  const why = cannotLookUp === undefined ? '' : ` Other events cannot be looked up: ${cannotLookUp}`
  const elsewhere: Words =
    namespace === undefined ? [' outside any namespace: for another, add ', { field: 'namespace' }] : ''
  const words: Words =
    where === undefined
      ? `There is no dead letter ${name}.${why}`
      : [
          `${name} is unknown`,
          ...elsewhere,
          '. It never came, was discarded, or its id is no longer remembered.',
        ]
  return {
    isDone: false,
    data: { state: where?.state ?? null, deadLetter: null },
    blocks: [{ kind: 'line', words }],
  }
}

import type { HandlingControl, Inbox, PausedHandling } from '@ackhook/core'
import { pausedType } from '@ackhook/core/spi'
import { Refused } from '../protocol/refused.ts'
import type { Block, Outcome } from '../protocol/verbs.ts'
import { joined, type Words } from '../protocol/words.ts'
import { flag, optional, text } from './fields.ts'
import { isoOf } from './read-letters.ts'
import { type Call, defineVerb, type Verb } from './verb.ts'

interface PauseArgs {
  readonly type?: string | undefined
  readonly all?: boolean | undefined
}

const FIELDS = {
  type: optional(text('one exact event type', { isArgument: true })),
  all: optional(flag('every type')),
}

/** Pauses the handling of one type or of all, in the app's own processes. Their events are accepted, and wait. */
export const pause: Verb = defineVerb({
  name: 'pause',
  summary: 'Pause the handling of one event type, or of all; events are accepted, and wait',
  effect: "No attempt begins in any of the app's processes until somebody resumes it",
  changes: 'something',
  words: { label: 'Pause', doing: 'Pausing', done: 'paused' },
  fields: FIELDS,
  check: args => requireTypes('pause', args),
  run: call =>
    change(
      call,
      'paused',
      (handling, type) => handling.pause(type),
      (what, hasChanged, { type, all }) => [
        `Handling of ${what} ${hasChanged ? 'is paused' : 'was paused already'}: they are accepted, and wait. End it with: `,
        { verb: 'resume', args: type === undefined ? { all } : { type } },
      ],
    ),
})

/** Ends pauses. */
export const resume: Verb = defineVerb({
  name: 'resume',
  summary: 'End a pause, or all of them, those of single types too',
  effect: 'Events that waited are handled at once',
  changes: 'something',
  runsHandlers: true,
  words: { label: 'Resume', doing: 'Resuming', done: 'resumed' },
  fields: FIELDS,
  check: args => requireTypes('resume', args),
  run: call =>
    change(
      call,
      'resumed',
      (handling, type) => handling.resume(type),
      (what, hasChanged) =>
        hasChanged ? `Handling of ${what} is resumed.` : `Handling of ${what} was not paused.`,
    ),
})

function requireTypes(verb: string, { type, all = false }: PauseArgs): void {
  if ((type === undefined) !== all)
    throw new Refused('invalid', [
      `give one event type to ${verb}, such as conversation.resolved, or `,
      { field: 'all' },
    ])
  try {
    pausedType(type)
  } catch (cause) {
    throw new Refused('invalid', `'${type}' is not one event type: patterns cannot be paused`, { cause })
  }
}

async function change(
  { args, inbox, caller }: Call<PauseArgs>,
  done: 'paused' | 'resumed',
  apply: (handling: HandlingControl, type: string | undefined) => boolean | Promise<boolean>,
  said: (what: string, hasChanged: boolean, args: PauseArgs) => Words,
): Promise<Outcome> {
  const { type } = args
  const handling = handlingOf(inbox, type)
  const hasChanged = await apply(handling, type)
  const paused = await handling.paused()
  const what = type === undefined ? 'all events' : `'${type}' events`
  if (hasChanged) {
    const message = `${caller.name ?? 'Somebody'} ${done} the handling of ${what}.`
    caller.observe({ kind: 'notice', code: `handling_${done}`, message })
  }
  const left: Block[] =
    done === 'resumed' && paused.length > 0
      ? [{ kind: 'line', words: ['Still paused: ', ...joined(paused.map(pauseWords), ', ')] }]
      : []
  return {
    isDone: true,
    data: { changed: hasChanged, paused: paused.map(pauseData) },
    blocks: [{ kind: 'line', words: said(what, hasChanged, args) }, ...left],
  }
}

function handlingOf({ handling, cannotPause }: Inbox, type: string | undefined): HandlingControl {
  if (handling === undefined)
    throw new Refused(
      'unsupported',
      `handling cannot be paused here: ${cannotPause ?? 'upgrade the package of the inbox'}`,
    )
  const { cannotPauseTypes } = handling
  if (type === undefined || cannotPauseTypes === undefined) return handling
  throw new Refused('unsupported', `handling of one type cannot be paused here: ${cannotPauseTypes}`)
}

/** Names a pause with the time since which it holds. */
export function pauseWords({ type, since }: PausedHandling): Words {
  return [`${type ?? 'all types'} since `, { at: since }]
}

function pauseData({ type, since }: PausedHandling): object {
  return { ...(type !== undefined && { type }), since: isoOf(since) }
}

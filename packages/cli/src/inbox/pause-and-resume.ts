import type { HandlingControl, Inbox, PausedHandling } from '@ackhook/core'
import { pausedType, printable, shellWord } from '@ackhook/core/spi'
import { EXIT } from '../command/exit-codes.ts'
import { UsageError } from '../command/usage-error.ts'
import type { PauseFlags } from './inbox-flags.ts'
import { type InboxParts, withInbox } from './with-inbox.ts'

/** Pauses the handling of one type or of all, in the app's own processes. Their events are accepted, and wait. */
export function pause(type: string | undefined, flags: PauseFlags, parts: InboxParts): Promise<number> {
  return change('pause', type, flags, parts)
}

export function resume(type: string | undefined, flags: PauseFlags, parts: InboxParts): Promise<number> {
  return change('resume', type, flags, parts)
}

function change(
  verb: 'pause' | 'resume',
  given: string | undefined,
  flags: PauseFlags,
  parts: InboxParts,
): Promise<number> {
  const type = typeOf(verb, given, flags)
  const { terminal } = parts
  return withInbox(flags, parts, async inbox => {
    const handling = handlingOf(inbox, type)
    const hasChanged = await handling[verb](type)
    const paused = await handling.paused()
    if (flags.json) terminal.out(JSON.stringify({ changed: hasChanged, paused: paused.map(toJson) }))
    else for (const line of linesOf(verb, type, hasChanged, paused)) terminal.out(line)
    return EXIT.ok
  })
}

function typeOf(verb: string, type: string | undefined, { all = false }: PauseFlags): string | undefined {
  if ((type === undefined) !== all)
    throw new UsageError(`give one event type to ${verb}, such as conversation.resolved, or --all`)
  try {
    return pausedType(type)
  } catch (cause) {
    throw new UsageError(`'${printable(type ?? '')}' is not one event type: patterns cannot be paused`, {
      cause,
    })
  }
}

function handlingOf({ handling, cannotPause }: Inbox, type: string | undefined): HandlingControl {
  if (handling === undefined)
    throw new UsageError(
      `handling cannot be paused here: ${cannotPause ?? 'upgrade the package of the inbox'}`,
    )
  const { cannotPauseTypes } = handling
  if (type === undefined || cannotPauseTypes === undefined) return handling
  throw new UsageError(`handling of one type cannot be paused here: ${cannotPauseTypes}`)
}

function linesOf(
  verb: 'pause' | 'resume',
  type: string | undefined,
  hasChanged: boolean,
  paused: readonly PausedHandling[],
): readonly string[] {
  const what = type === undefined ? 'all events' : `'${printable(type)}' events`
  if (verb === 'pause') {
    const end = `End it with: ackhook inbox resume ${type === undefined ? '--all' : shellWord(type)}`
    const state = hasChanged ? 'is paused' : 'was paused already'
    return [`Handling of ${what} ${state}: they are accepted, and wait. ${end}`]
  }
  const result = hasChanged ? `Handling of ${what} is resumed.` : `Handling of ${what} was not paused.`
  return paused.length === 0 ? [result] : [result, `Still paused: ${describePauses(paused)}`]
}

/** Lists pauses with the time since which they hold. */
export function describePauses(paused: readonly PausedHandling[]): string {
  return paused
    .map(({ type, since }) => `${type === undefined ? 'all types' : printable(type)} since ${timeOf(since)}`)
    .join(', ')
}

function toJson({ type, since }: PausedHandling): object {
  return { ...(type !== undefined && { type }), since: timeOf(since) }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}

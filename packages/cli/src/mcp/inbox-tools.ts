import { inputSchemaOf, perform, readArgs, VERBS, type Verb } from '@ackhook/dashboard/verbs'
import type { Tool } from '@ackhook/mcp'
import { openInbox } from '../inbox/open-inbox.ts'
import { OPERATOR } from '../inbox/verb-command.ts'
import { withInbox } from '../inbox/with-inbox.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type McpFlags, shownBy } from './mcp-flags.ts'

/** Creates a tool for each verb of an inbox that the flags allow; none if they name no inbox. */
export function inboxTools(flags: McpFlags, terminal: Terminal): readonly Tool[] {
  if (flags.sqlite === undefined && flags.redis === undefined && flags.postgres === undefined) return []
  return VERBS.filter(verb => isAllowed(verb, flags)).map(verb => {
    const { name, summary, effect, changes, runsHandlers = false } = verb
    return {
      name: `inbox_${name}`,
      description: effect === undefined ? summary : `${summary}. ${effect}`,
      inputSchema: inputSchemaOf(verb),
      changes,
      runsHandlers,
      run: input => call(verb, input, flags, terminal),
    }
  })
}

/** What compares contents tells them to whoever asks often enough. */
function isAllowed(
  { changes, readsBodies = false }: Verb,
  { allowWrite = false, bodies = false }: McpFlags,
): boolean {
  return (changes === 'nothing' || allowWrite) && (!readsBodies || bodies)
}

async function call(verb: Verb, input: unknown, flags: McpFlags, terminal: Terminal): Promise<unknown> {
  const args = readArgs(verb, input)
  const { stop: signal } = terminal
  const outcome = await withInbox(flags, { terminal, open: openInbox }, inbox =>
    perform(verb, { inbox, args, caller: OPERATOR, signal, progress() {} }),
  )
  return shownBy(flags, outcome.data)
}

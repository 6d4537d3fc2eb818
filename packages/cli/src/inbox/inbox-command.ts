import { Command } from 'commander'
import type { Finish } from '../command/finish.ts'
import { parseRate } from '../command/pace.ts'
import {
  collect,
  parseCount,
  parseDuration,
  parsePath,
  parsePort,
  parseUrl,
  withContract,
  withJson,
  withOrder,
} from '../command/shared-options.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type EraseFlags, erase } from './erase.ts'
import type { ChangeFlags, GroupsFlags, InboxFlags, ListFlags, PauseFlags, UiFlags } from './inbox-flags.ts'
import { type IngestFlags, ingest } from './ingest.ts'
import type { OpenInbox } from './open-inbox.ts'
import { pause, resume } from './pause-and-resume.ts'
import { groups, list } from './read-commands.ts'
import { discard, forget, redrive } from './redrive-and-discard.ts'
import { show } from './show.ts'
import { stats } from './stats.ts'
import { ui } from './ui.ts'
import type { InboxParts } from './with-inbox.ts'

/** `open` is a parameter so that tests can use an inbox in memory. */
export function inboxCommand(terminal: Terminal, finish: Finish, open: OpenInbox): Command {
  const parts = { terminal, open }
  const command = new Command('inbox')
    .description('Inspect a durable inbox and its dead letters')
    .addHelpText('after', HELP)
  const add = (name: string, description: string) => {
    const child = withJson(withPlace(new Command(name).description(description)))
    command.addCommand(child)
    return child
  }
  withOrder(
    withFilter(add('list', 'List dead letters')).option('--limit <n>', 'at most this many', parseCount, 100),
  )
    .option('--after <cursor>', 'continue after the page that ended with this cursor')
    .action(async (flags: ListFlags) => finish(await list(flags, parts)))
  add('groups', 'Count dead letters by event type and error, the largest group first')
    .option('--limit <n>', 'at most this many groups', parseCount, 100)
    .action(async (flags: GroupsFlags) => finish(await groups(flags, parts)))
  withNamespace(add('show', 'Show one event: handled and when, or what waits, runs or failed, with its body'))
    .argument('<id>', 'event id')
    .action(async (id: string, flags: InboxFlags) => finish(await show(id, flags, parts)))
  withTargets(add('redrive', 'Run dead letters again, from attempt 1'))
    .option('--rate <n>', 'redrive this many per second, or such as 600/m (default: no limit)', parseRate)
    .option('--no-follow', 'end once they are redriven, without waiting for the results')
    .action(async (ids: string[], flags: ChangeFlags) => finish(await redrive(ids, flags, parts)))
  withTargets(add('discard', 'Delete dead letters for good')).action(
    async (ids: string[], flags: ChangeFlags) => finish(await discard(ids, flags, parts)),
  )
  withNamespace(add('forget', 'Forget the ids of handled events, so that a replay runs them again'))
    .argument('<ids...>', 'event ids')
    .action(async (ids: string[], flags: InboxFlags) => finish(await forget(ids, flags, parts)))
  add('pause', 'Pause the handling of one event type, or of all; events are accepted, and wait')
    .argument('[type]', 'one exact event type')
    .option('--all', 'every type')
    .action(async (type: string | undefined, flags: PauseFlags) => finish(await pause(type, flags, parts)))
  add('resume', 'End a pause; with --all, those of single types too')
    .argument('[type]', 'one exact event type')
    .option('--all', 'every type')
    .action(async (type: string | undefined, flags: PauseFlags) => finish(await resume(type, flags, parts)))
  add('stats', 'Count pending, active and dead events, and show what is paused').action(
    async (flags: InboxFlags) => finish(await stats(flags, parts)),
  )
  addStoring(add, finish, parts)
  add('ui', "Serve the inbox's pages, on this machine only")
    .option('--port <n>', 'port to listen on; 0 picks a free one', parsePort, 4401)
    .option('--read-only', 'allow neither redrive nor discard')
    .option('--bodies', 'show the bodies of dead letters')
    .option('--trace-url <url>', 'address of a trace, with {traceId}')
    .option(
      '--emulator <url>',
      "address of the emulator's page, for links to each event's deliveries",
      parseUrl,
    )
    .action(async (flags: UiFlags) => finish(await ui(flags, parts)))
  return command
}

/** Commands that store or erase single events. */
function addStoring(
  add: (name: string, description: string) => Command,
  finish: Finish,
  parts: InboxParts,
): void {
  withContract(withNamespace(add('ingest', 'Store the events of a file, as deliveries would')))
    .argument(
      '<file>',
      'JSON lines, an array or values of any layout, also gzip or UTF-16; - reads standard input',
    )
    .option('--dry-run', 'count what would be stored, and store nothing')
    .option('--fail-fast', 'end at the first line that is refused')
    .option('--source <name>', 'where the events come from', 'cli')
    .option('--retention <duration>', "your app's retention, if it sets one (default: 7d)", parseDuration)
    .action(async (file: string, flags: IngestFlags) => finish(await ingest(file, flags, parts)))
  withNamespace(add('erase', 'Delete the waiting and dead events of one conversation or contact'))
    .option('--where <path=value>', 'a value in the event, such as data.contact_id=ct_1; repeatable', collect)
    .option('--dry-run', 'count what matches, and delete nothing')
    .option('--yes', 'skip the confirmation')
    .action(async (flags: EraseFlags) => finish(await erase(flags, parts)))
}

function withNamespace(command: Command): Command {
  return command.option('--namespace <name>', 'only events in this namespace')
}

function withFilter(command: Command): Command {
  return withNamespace(command)
    .option('--type <pattern>', "only events of this type, or of a category: 'order.*'")
    .option('--error <class>', 'only those whose last error has this class, such as TypeError')
    .option(
      '--older-than <duration>',
      'only those whose last attempt is longer ago, such as 30d',
      parseDuration,
    )
    .option('--group <fingerprint>', 'only those of one group, as inbox groups prints it')
}

/** Adds the ways to choose the dead letters that a command changes. */
function withTargets(command: Command): Command {
  return withFilter(command)
    .argument('[ids...]', 'event ids')
    .option('--all', 'every dead letter')
    .option('--dry-run', 'only count the matches')
    .option('--yes', 'skip the confirmation')
}

/** Adds the options that name an inbox. */
export function withPlace(command: Command): Command {
  return command
    .option('--sqlite <file>', "sqliteInbox's database", parsePath)
    .option('--redis <url>', "bullmqInbox's Redis, such as redis://localhost:6379")
    .option('--cluster', 'with --redis: the address is a node of a Redis Cluster')
    .option('--postgres <url>', "bullmqInbox's PostgreSQL, such as postgres://localhost/app")
    .option('--queue <name>', "bullmqInbox's queue (default: ackhook)")
    .option('--prefix <text>', "with --redis: bullmqInbox's prefix (default: bull)")
    .option('--schema <name>', 'with --postgres: the schema of its tables (default: bullmq)')
}

const HELP = `
Needs @ackhook/sqlite or @ackhook/bullmq in your project. Redriven events run in your app's processes.
In a terminal, list shortens values that do not fit; a pipe and --json get them in full.
redrive waits until each event is handled or has failed again. Exit code 1 if one has, or was not found, 2 if there is no such file or queue.

Examples:
  $ ackhook inbox stats --sqlite webhooks.db
  $ ackhook inbox list --redis redis://localhost:6379 --queue webhooks --prefix '{ackhook}'
  $ ackhook inbox groups --sqlite webhooks.db
  $ ackhook inbox redrive --group 07c1e5d2a94b38 --sqlite webhooks.db
  $ ackhook inbox show evt_123 --sqlite webhooks.db
  $ ackhook inbox redrive --type 'order.*' --error TypeError --sqlite webhooks.db
  $ ackhook inbox redrive --all --yes --rate 10/s --sqlite webhooks.db
  $ ackhook inbox discard evt_123 --sqlite webhooks.db
  $ ackhook inbox discard --older-than 30d --dry-run --sqlite webhooks.db
  $ ackhook inbox ingest events.jsonl --dry-run --sqlite webhooks.db
  $ ackhook inbox erase --where data.contact_id=ct_1 --sqlite webhooks.db
  $ ackhook inbox forget evt_123 --sqlite webhooks.db
  $ ackhook inbox pause order.paid --sqlite webhooks.db
  $ ackhook inbox resume --all --redis redis://localhost:6379 --queue webhooks
  $ ackhook inbox ui --sqlite webhooks.db`

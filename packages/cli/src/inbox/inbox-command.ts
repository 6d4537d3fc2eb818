import { Command } from 'commander'
import type { Finish } from '../command/finish.ts'
import { parseCount, parsePort, withJson, withOrder } from '../command/shared-options.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { ChangeFlags, InboxFlags, ListFlags, UiFlags } from './inbox-flags.ts'
import type { OpenInbox } from './open-inbox.ts'
import { list, show, stats } from './read-commands.ts'
import { discard, forget, redrive } from './redrive-and-discard.ts'
import { ui } from './ui.ts'

/** `open` is a parameter so that tests can use an inbox in memory. */
export function inboxCommand(terminal: Terminal, finish: Finish, open: OpenInbox): Command {
  const parts = { terminal, open }
  const command = new Command('inbox')
    .description('Inspect a durable inbox and its dead letters')
    .addHelpText('after', HELP)
  const add = (name: string, description: string) => {
    const child = withPlace(new Command(name).description(description))
    command.addCommand(child)
    return child
  }
  withOrder(
    withFilter(add('list', 'list dead letters')).option('--limit <n>', 'at most this many', parseCount, 100),
  )
    .option('--after <cursor>', 'go on after the page that ended with this cursor')
    .action(async (flags: ListFlags) => finish(await list(flags, parts)))
  add('show', 'show one dead letter with its body')
    .argument('<id>', 'id of the event')
    .action(async (id: string, flags: InboxFlags) => finish(await show(id, flags, parts)))
  withFilter(add('redrive', 'run dead letters again, from attempt 1'))
    .argument('[ids...]', 'ids of events')
    .option('--all', 'every dead letter')
    .option('--yes', 'do not ask')
    .action(async (ids: string[], flags: ChangeFlags) => finish(await redrive(ids, flags, parts)))
  withFilter(add('discard', 'delete dead letters for good'))
    .argument('[ids...]', 'ids of events')
    .option('--all', 'every dead letter')
    .option('--yes', 'do not ask')
    .action(async (ids: string[], flags: ChangeFlags) => finish(await discard(ids, flags, parts)))
  add('forget', 'release the ids of handled events, so that a replay of them runs')
    .argument('<ids...>', 'ids of events')
    .action(async (ids: string[], flags: InboxFlags) => finish(await forget(ids, flags, parts)))
  add('stats', 'count waiting, running and dead events').action(async (flags: InboxFlags) =>
    finish(await stats(flags, parts)),
  )
  add('ui', 'serve pages to look at it, on this machine alone')
    .option('--port <n>', 'port to listen on; 0 picks a free one', parsePort, 4401)
    .option('--read-only', 'neither redrive nor discard')
    .option('--bodies', 'show the bodies of dead letters')
    .action(async (flags: UiFlags) => finish(await ui(flags, parts)))
  return command
}

function withFilter(command: Command): Command {
  return command
    .option('--type <pattern>', "only events of this type, or of a category: 'order.*'")
    .option('--error <class>', 'only those whose last error is of this class, such as TypeError')
}

function withPlace(command: Command): Command {
  return withJson(
    command
      .option('--sqlite <file>', 'the database of sqliteInbox')
      .option('--redis <url>', 'the Redis of bullmqInbox, such as redis://localhost:6379')
      .option('--cluster', 'with --redis: it is a node of a Redis Cluster')
      .option('--postgres <url>', 'the PostgreSQL of bullmqInbox, such as postgres://localhost/app')
      .option('--queue <name>', 'the queue of bullmqInbox (default: ackhook)')
      .option('--prefix <text>', 'with --redis: the prefix of bullmqInbox (default: bull)')
      .option('--schema <name>', 'with --postgres: the schema of its tables (default: bullmq)')
      .option('--namespace <name>', 'only events of this namespace'),
  )
}

const HELP = `
Needs @ackhook/sqlite or @ackhook/bullmq in your project. Redriven events run in the processes of your app.
In a terminal, list shortens what does not fit; a pipe and --json get it whole.
Exit code 1 when an event was not found, 2 when there is no such file or queue.

Examples:
  $ ackhook inbox stats --sqlite webhooks.db
  $ ackhook inbox list --redis redis://localhost:6379 --queue webhooks --prefix '{ackhook}'
  $ ackhook inbox show evt_123 --sqlite webhooks.db
  $ ackhook inbox redrive --type 'order.*' --error TypeError --sqlite webhooks.db
  $ ackhook inbox redrive --all --yes --sqlite webhooks.db
  $ ackhook inbox discard evt_123 --sqlite webhooks.db
  $ ackhook inbox forget evt_123 --sqlite webhooks.db
  $ ackhook inbox ui --sqlite webhooks.db`

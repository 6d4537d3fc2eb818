import { VERBS } from '@ackhook/dashboard/verbs'
import { Command } from 'commander'
import type { Finish } from '../command/finish.ts'
import {
  parseDuration,
  parsePath,
  parsePort,
  parseUrl,
  withContract,
  withJson,
} from '../command/shared-options.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { UiFlags } from './inbox-flags.ts'
import { type IngestFlags, ingest } from './ingest.ts'
import type { OpenInbox } from './open-inbox.ts'
import { speechOf } from './speech.ts'
import { ui } from './ui.ts'
import { verbCommand } from './verb-command.ts'
import type { InboxParts } from './with-inbox.ts'

/** `open` is a parameter so that tests can use an inbox in memory. */
export function inboxCommand(terminal: Terminal, finish: Finish, open: OpenInbox): Command {
  const parts = { terminal, open }
  const command = new Command('inbox')
    .description('Inspect a durable inbox and its dead letters')
    .addHelpText('after', HELP)
  for (const verb of VERBS) {
    const act = async (run: Parameters<Parameters<typeof verbCommand>[1]>[0]) =>
      finish(await run(parts, speechOf(verb, VERBS)))
    command.addCommand(withJson(withPlace(verbCommand(verb, act))))
  }
  const add = (name: string, description: string) => {
    const child = withJson(withPlace(new Command(name).description(description)))
    command.addCommand(child)
    return child
  }
  addIngest(add, finish, parts)
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

function addIngest(
  add: (name: string, description: string) => Command,
  finish: Finish,
  parts: InboxParts,
): void {
  withContract(
    add('ingest', 'Store the events of a file, as deliveries would').option(
      '--namespace <name>',
      'only events in this namespace',
    ),
  )
    .argument(
      '<file>',
      'JSON lines, an array or values of any layout, also gzip or UTF-16; - reads standard input',
    )
    .option('--dry-run', 'count what would be stored, and store nothing')
    .option('--fail-fast', 'end at the first line that is refused')
    .option('--source <name>', 'where the events come from', 'cli')
    .option('--retention <duration>', "your app's retention, if it sets one (default: 7d)", parseDuration)
    .action(async (file: string, flags: IngestFlags) => finish(await ingest(file, flags, parts)))
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

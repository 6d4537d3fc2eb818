import type { Duration } from '@ackhook/core'
import { Command, InvalidArgumentError } from 'commander'
import type { Finish } from '../command/finish.ts'
import {
  parseCount,
  parseDuration,
  parsePort,
  parseUrl,
  withContract,
  withJson,
  withSecret,
  withSentUnit,
} from '../command/shared-options.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { DEFAULT_PORT } from './emulator-client.ts'
import type {
  ListFlags,
  PlaceFlags,
  ReplayFlags,
  ResetFlags,
  SendFlags,
  StartFlags,
  UndeliveredFlags,
  WaitFlags,
} from './emulator-flags.ts'
import { list } from './list-deliveries.ts'
import { replayDeliveries } from './replay-deliveries.ts'
import { reset } from './reset.ts'
import { sendEvents } from './send-events.ts'
import { show } from './show-delivery.ts'
import { start } from './start.ts'
import { undelivered } from './undelivered.ts'
import { waitFor } from './wait-for.ts'

export function emulatorCommand(terminal: Terminal, finish: Finish): Command {
  return new Command('emulator')
    .description('Be the platform on this machine: deliveries with retries, a log and replay')
    .addHelpText('after', HELP)
    .addCommand(startCommand(terminal, finish))
    .addCommand(sendCommand(terminal, finish))
    .addCommand(listCommand(terminal, finish))
    .addCommand(showCommand(terminal, finish))
    .addCommand(replayCommand(terminal, finish))
    .addCommand(undeliveredCommand(terminal, finish))
    .addCommand(waitCommand(terminal, finish))
    .addCommand(resetCommand(terminal, finish))
}

function startCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('start')
    .description('Start it, and show each delivery until Ctrl-C')
    .option('--to <url>', 'address of the receiver', parseUrl)
    .option('--port <n>', 'port to listen on; 0 picks a free one', parsePort, DEFAULT_PORT)
    .option('--host <address>', 'address to listen on; other than loopback needs ACKHOOK_EMULATOR_TOKEN')
    .option('--allow-host <name>', 'a name by which it may be asked, such as emulator in Compose', collect)
    .option('--allow-target <host>', 'a host beside this machine to send to, such as app in Compose', collect)
    .option('--https-only', 'refuse receivers without TLS, as the platform does')
    .option('--data <file>', 'keep the log and what is pending in this file (default: in memory)')
    .option('--seed <n>', 'the same seed repeats the same faults and delays', parseSeed)
    .option('--attempts <n>', 'attempts at each event (default: 8, a guess)', parseCount)
    .option('--timeout <duration>', 'how long to wait for each reply (default: 10s, a guess)', parseDuration)
    .option('--min-delay <duration>', 'before the second attempt (default: 5s, a guess)', parseDuration)
    .option('--max-delay <duration>', 'the longest delay (default: 1h, a guess)', parseDuration)
    .option('--fault <name=chance>', 'such as duplicate=0.1, lostReply=0.05 or delay=2s', collectFault)
    .option('--quiet', 'do not show deliveries')
    .addHelpText('after', START_HELP)
    .action(async (flags: StartFlags) => finish(await start(flags, terminal)))
  return withJson(withSentUnit(withContract(withSecret(command))))
}

function sendCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('send')
    .description('Hand an event to it, and wait for the first reply of the receiver')
    .argument('<type>', 'event type, such as conversation.resolved')
    .option('--data <file or json>', 'data of the event: JSON, or a file with it')
    .option('--id <id>', 'id of the event (default: a new one for each)')
    .option('--repeat <n>', 'send this many events', parseCount, 1)
    .option('--workspace <id>', 'workspace whose endpoint gets it')
    .option('--fault <name=chance>', 'for these events alone, such as duplicate or lostReply', collectFault)
    .action(async (type: string, flags: SendFlags) => finish(await sendEvents(type, flags, terminal)))
  return withPlace(withWait(command))
}

function listCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('list')
    .description('List deliveries, newest first')
    .action(async (flags: ListFlags) => finish(await list(flags, terminal)))
  return withPlace(withPage(withState(withFilter(command))))
}

function showCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('show')
    .description('Show a delivery: the exact bytes, and each attempt with its reply')
    .argument('<id>', 'id of a delivery, or of an event')
    .action(async (id: string, flags: PlaceFlags) => finish(await show(id, flags, terminal)))
  return withPlace(command)
}

function replayCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('replay')
    .description('Send deliveries again: by id, or with --all what is undelivered')
    .argument('[ids...]', 'ids of deliveries or events')
    .option('--all', 'every undelivered one, or every one that the filter names')
    .option('--exact', 'the very request of the last attempt, its old signature included')
    .option('--data <file or json>', 'a new event with other data')
    .option('--dry-run', 'only count')
    .action(async (ids: string[], flags: ReplayFlags) => finish(await replayDeliveries(ids, flags, terminal)))
  return withPlace(withWait(withState(withFilter(command))))
}

function undeliveredCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('undelivered')
    .description('List what could not be delivered; exit code 1 if there is anything')
    .argument('[ids...]', 'with --discard: ids of deliveries or events')
    .option('--discard', 'give deliveries up instead')
    .option('--all', 'with --discard: every one, or every one that the filter names')
    .option('--yes', 'with --discard: do not ask')
    .action(async (ids: string[], flags: UndeliveredFlags) => finish(await undelivered(ids, flags, terminal)))
  return withPlace(withPage(withFilter(command)))
}

function waitCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('wait')
    .description('Wait for events; without a filter until nothing is pending')
    .option('--count <n>', 'this many different events (default: 1)', parseCount)
    .option('--idle', 'until nothing that matches is pending')
    .option('--timeout <duration>', 'at most this long, up to 60s', parseDuration, '10s' as Duration)
    .addHelpText('after', '\nExit code 1 when the time is up.')
    .action(async (flags: WaitFlags) => finish(await waitFor(flags, terminal)))
  return withPlace(withState(withFilter(command)))
}

function resetCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('reset')
    .description('Empty the log, and take back what the clock was moved by and the faults that were set')
    .option('--everything', 'remove workspaces and endpoints too, except that of start --to')
    .action(async (flags: ResetFlags) => finish(await reset(flags, terminal)))
  return withPlace(command)
}

function withPlace(command: Command): Command {
  return withJson(
    command.option('--at <url>', 'address of the emulator (default: http://localhost:4400)', parseUrl),
  )
}

function withWait(command: Command): Command {
  return command
    .option('--no-wait', 'do not wait for the receiver')
    .option(
      '--timeout <duration>',
      'wait at most this long for the next reply',
      parseDuration,
      '10s' as Duration,
    )
}

function withState(command: Command): Command {
  return command
    .option('--state <state>', 'pending, acknowledged, undelivered, replayed, discarded or skipped')
    .option('--status <n>', 'status of the last reply', parseCount)
}

function withFilter(command: Command): Command {
  return command
    .option('--type <type>', 'event type')
    .option('--category <name>', 'event category, such as message')
    .option('--event <id>', 'id of the event')
    .option('--text <text>', 'part of the event, three characters or more')
    .option('--from <instant>', 'created at this instant (ISO 8601) or later')
    .option('--until <instant>', 'created before this instant')
    .option('--workspace <id>', 'workspace')
}

function withPage(command: Command): Command {
  return command
    .option('--limit <n>', 'at most this many, up to 200', parseCount, 50)
    .option('--after <cursor>', 'go on after an earlier list')
    .option('--oldest', 'the oldest first instead of the newest')
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** `duplicate`, `lostReply=0.1` or `delay=2s`. The emulator knows the names. */
function collectFault(text: string, before: Record<string, string | number | boolean> = {}): typeof before {
  const [, name, value] = /^(\w+)(?:=(.+))?$/.exec(text) ?? []
  if (name === undefined)
    throw new InvalidArgumentError('Write a name, or a name and a chance: lostReply=0.1.')
  const number = Number(value)
  return { ...before, [name]: value === undefined ? true : Number.isNaN(number) ? value : number }
}

function parseSeed(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 0) return value
  throw new InvalidArgumentError('Write a whole number from 0.')
}

const HELP = `
Environment:
  ACKHOOK_EMULATOR        address of the emulator, instead of --at
  ACKHOOK_EMULATOR_TOKEN  its token, for start and for every other command

Examples:
  $ ackhook emulator start --to http://localhost:3000/webhooks
  $ ackhook emulator send conversation.resolved
  $ ackhook emulator list --state undelivered --type conversation.resolved
  $ ackhook emulator show evt_123
  $ ackhook emulator replay --all
  $ ackhook emulator wait --type conversation.resolved --state acknowledged --count 3`

const START_HELP = `
Nothing has to be configured. Without a secret in SIGNING_SECRET or --secrets-file it makes one up and prints it once.
What the platform has not published, such as its number of attempts, is a guess here and can be set.
--json prints one line when it is ready, and then one for each attempt.

Examples:
  $ ackhook emulator start --to http://localhost:3000/webhooks
  $ ackhook emulator start --to http://localhost:3000/webhooks --data emulator.db --fault duplicate=0.1
  $ ackhook emulator start --host 0.0.0.0 --allow-host emulator --allow-target app --to http://app:3000/webhooks`

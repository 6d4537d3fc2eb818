import type { Duration } from '@ackhook/core'
import { parseCount, parseDuration, parseUrl } from '../command/shared-options.ts'
import { addWorkspace } from './add-workspace.ts'
import { advanceClock } from './advance-clock.ts'
import { advanceMessage } from './advance-message.ts'
import { discard } from './discard.ts'
import type { EndpointFlags } from './emulator-flags.ts'
import { health } from './health.ts'
import { list } from './list-deliveries.ts'
import { listMessages } from './list-messages.ts'
import { listWorkspaces } from './list-workspaces.ts'
import { pauseEndpoint } from './pause-endpoint.ts'
import { receiveMessage } from './receive-message.ts'
import { removeEndpoint } from './remove-endpoint.ts'
import { removeWorkspace } from './remove-workspace.ts'
import { replayDeliveries } from './replay-deliveries.ts'
import { reset } from './reset.ts'
import { retry } from './retry.ts'
import { rotateSecret } from './rotate-secret.ts'
import { sendEvents } from './send-events.ts'
import { sendMessage } from './send-message.ts'
import { setEndpoint } from './set-endpoint.ts'
import { setFaults } from './set-faults.ts'
import { settings } from './settings.ts'
import {
  collect,
  collectFault,
  parseSeed,
  withAwait,
  withFilter,
  withPage,
  withPlace,
  withState,
  withWorkspace,
} from './shared-options.ts'
import { showClock } from './show-clock.ts'
import { show } from './show-delivery.ts'
import { showEndpoint } from './show-endpoint.ts'
import { showFaults } from './show-faults.ts'
import { START } from './start-verb.ts'
import { stats } from './stats.ts'
import { undelivered } from './undelivered.ts'
import { option, type Verb } from './verb.ts'
import { waitFor } from './wait-for.ts'

const ids = ['[ids...]', 'ids of deliveries or events'] as const
const yes = option('--yes', 'do not ask')
const data = option(
  '--data <file or json>',
  'data of the event, merged over sample data: JSON, or a file with it',
)
const rawData = option('--raw-data <file or json>', 'all of its data, sent as it is written: 1.10 stays 1.10')
const secretsFile = option(
  '--secrets-file <file>',
  'the new secret is SIGNING_SECRET in this file (default: made up)',
)

const DELIVERIES: readonly Verb<never>[] = [
  {
    name: 'send',
    description: 'Hand an event to it, and wait for the first reply of the receiver',
    args: [['<type>', 'event type, such as conversation.resolved']],
    options: [
      data,
      rawData,
      option('--id <id>', 'id of the event (default: a new one for each)'),
      option('--seed <n>', 'the same seed gives the same sample data', parseSeed),
      option('--repeat <n>', 'send this many events', parseCount, 1),
      option('--fault <name=chance>', 'for these events alone, such as duplicate or lostReply', collectFault),
      withWorkspace,
      withAwait,
      withPlace,
    ],
    run: sendEvents,
  },
  {
    name: 'list',
    description: 'List deliveries, newest first',
    options: [withFilter, withState, withPage, withPlace],
    run: list,
  },
  {
    name: 'show',
    description: 'Show a delivery: the exact bytes, and each attempt with its reply',
    args: [['<id>', 'id of a delivery, or of an event']],
    options: [
      option('--body', 'print the event alone, for replay --body'),
      option('--curl', 'print the last request as a command for curl'),
      withPlace,
    ],
    run: show,
  },
  {
    name: 'replay',
    description: 'Send deliveries again: by id, or with --all what is undelivered',
    args: [ids],
    options: [
      option('--all', 'every undelivered one; or a filter: every one that it names'),
      option('--exact', 'the very request of the last attempt, its old signature included'),
      data,
      rawData,
      option('--body <file>', 'a new event with this text, whatever was sent before'),
      option('--dry-run', 'only count'),
      yes,
      withFilter,
      withState,
      withAwait,
      withPlace,
    ],
    help: 'Without an option it is the same event with a new signature. An edited one gets a new id.',
    run: replayDeliveries,
  },
  {
    name: 'retry',
    description: 'Start the next attempt of pending deliveries now',
    args: [['<ids...>', 'ids of deliveries or events']],
    options: [withAwait, withPlace],
    run: retry,
  },
  {
    name: 'undelivered',
    description: 'List what could not be delivered; exit code 1 if there is anything',
    options: [withFilter, withPage, withPlace],
    run: undelivered,
  },
  {
    name: 'discard',
    description: 'Give deliveries up: by id, or with --all what is undelivered',
    args: [ids],
    options: [
      option('--all', 'every undelivered one; or a filter: every one that it names'),
      option('--dry-run', 'only count'),
      yes,
      withFilter,
      withState,
      withPlace,
    ],
    run: discard,
  },
  {
    name: 'wait',
    description: 'Wait for events; without a filter until nothing is pending',
    options: [
      option('--count <n>', 'this many different events (default: 1)', parseCount),
      option('--idle', 'until nothing that matches is pending'),
      option('--timeout <duration>', 'at most this long, up to 60s', parseDuration, '10s' as Duration),
      withFilter,
      withState,
      withPlace,
    ],
    help: 'Exit code 1 when the time is up.',
    run: waitFor,
  },
  {
    name: 'stats',
    description: 'Count deliveries over time, by what became of them',
    options: [
      option('--buckets <n>', 'divide the time into this many parts (default: 60)', parseCount),
      withFilter,
      withState,
      withPlace,
    ],
    help: 'Without --from it is the last hour.',
    run: stats,
  },
]

const ENDPOINT: readonly Verb<never>[] = [
  {
    name: 'endpoint',
    description: 'Show where events are sent to, what is subscribed, and its health with the reason',
    options: [withWorkspace, withPlace],
    run: showEndpoint,
  },
  {
    name: 'endpoint set',
    description: 'Create it, or change what is named',
    options: [
      option('--to <url>', 'address of the receiver', parseUrl),
      option('--category <name>', 'send this category and no other; may be repeated', collect),
      option('--all-categories', 'send every category'),
      option('--type <type>', 'send this type and no other, of those categories; may be repeated', collect),
      option('--all-types', 'send every type'),
      secretsFile,
      withWorkspace,
      withPlace,
    ],
    run: setEndpoint,
  },
  {
    name: 'endpoint pause',
    description: 'Send nothing until it is resumed',
    options: [withWorkspace, withPlace],
    run: (_, flags: EndpointFlags, terminal) => pauseEndpoint('pause', flags, terminal),
  },
  {
    name: 'endpoint resume',
    description: 'Go on sending',
    options: [withWorkspace, withPlace],
    run: (_, flags: EndpointFlags, terminal) => pauseEndpoint('resume', flags, terminal),
  },
  {
    name: 'endpoint rotate-secret',
    description: 'Give it a new secret; the old one signs too for a while',
    options: [
      option('--overlap <duration>', 'how long both sign (default: 24h, a guess)', parseDuration),
      secretsFile,
      withWorkspace,
      withPlace,
    ],
    run: rotateSecret,
  },
  {
    name: 'endpoint remove',
    description: 'Remove it; what is pending becomes undelivered',
    options: [yes, withWorkspace, withPlace],
    run: removeEndpoint,
  },
  {
    name: 'workspaces',
    description: 'List the workspaces with their endpoints',
    options: [withPlace],
    run: listWorkspaces,
  },
  {
    name: 'workspaces add',
    description: 'Create a workspace',
    args: [['<id>', 'up to 64 letters, digits, _ and -']],
    options: [withPlace],
    run: addWorkspace,
  },
  {
    name: 'workspaces remove',
    description: 'Remove a workspace with its endpoint; its deliveries stay in the log',
    args: [['<id>', 'workspace']],
    options: [yes, withPlace],
    run: removeWorkspace,
  },
]

const MESSAGES: readonly Verb<never>[] = [
  {
    name: 'messages',
    description: 'List the messages of POST /v1/messages, and inbound ones, newest first',
    options: [withPage, withPlace],
    run: listMessages,
  },
  {
    name: 'messages send',
    description: 'Call POST /v1/messages, as an app would',
    options: [
      option('--to <number>', 'phone number, such as +4915112345678'),
      option('--template <name>', 'template of the message'),
      option('--channel <name>', 'channel', String, 'whatsapp'),
      option('--variables <file or json>', 'variables of the template'),
      withPlace,
    ],
    run: sendMessage,
  },
  {
    name: 'messages advance',
    description: 'Make a message sent, delivered, read or failed, and send the event of that (a guess)',
    args: [
      ['<id>', 'id of the message'],
      ['<state>', 'sent, delivered, read or failed'],
    ],
    options: [withPlace],
    run: advanceMessage,
  },
  {
    name: 'messages receive',
    description: 'Play the message of a customer, and send its event (a guess)',
    args: [['<text>', 'what the customer writes']],
    options: [
      option('--from <number>', "the customer's number", String, '+4915112345678'),
      option('--channel <name>', 'channel (default: whatsapp)'),
      withWorkspace,
      withPlace,
    ],
    run: receiveMessage,
  },
]

const EMULATOR: readonly Verb<never>[] = [
  {
    name: 'health',
    description: 'Count deliveries by state; exit code 1 if something needs attention',
    options: [withPlace],
    run: health,
  },
  {
    name: 'settings',
    description: 'List every setting and limit; what is not published is marked',
    options: [withPlace],
    run: settings,
  },
  { name: 'faults', description: 'Show what goes wrong on purpose', options: [withPlace], run: showFaults },
  {
    name: 'faults set',
    description: 'Replace all faults by these, from the next attempt on',
    args: [['<name=chance...>', 'such as duplicate=0.1, lostReply or delay=2s']],
    options: [withPlace],
    run: setFaults,
  },
  {
    name: 'faults clear',
    description: 'Let nothing go wrong on purpose',
    options: [withPlace],
    run: setFaults,
  },
  { name: 'clock', description: "Show the emulator's time", options: [withPlace], run: showClock },
  {
    name: 'clock advance',
    description: 'Move it forward, and start what becomes due on the way',
    args: [['<duration>', 'such as 30s, 5m or 1h']],
    options: [withPlace],
    help: 'A receiver with its own clock refuses timestamps from the future: see retry.',
    run: advanceClock,
  },
  {
    name: 'reset',
    description: 'Empty the log, and take back what the clock was moved by and the faults that were set',
    options: [
      option('--everything', 'remove workspaces and endpoints too, except that of start --to'),
      withPlace,
    ],
    run: reset,
  },
]

/** Every verb, under the heading that the help gives it. A verb stands before those that begin with its name. */
export const VERBS: Readonly<Record<string, readonly Verb<never>[]>> = {
  'Start here:': [START],
  'Deliveries:': DELIVERIES,
  'Endpoint:': ENDPOINT,
  'Messages:': MESSAGES,
  'Emulator:': EMULATOR,
}

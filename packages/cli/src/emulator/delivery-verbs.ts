import type { Duration } from '@ackhook/core'
import type { DeliveryView, ListedEvent, StatsView, WaitResult } from '@ackhook/emulator'
import { QUERIES, STATES } from '@ackhook/emulator/routes'
import { parseCount, parseDuration, parseUrl } from '../command/shared-options.ts'
import { createPaint, type GridCell, grid, timeText } from '../terminal/text.ts'
import { deliveryLines } from './deliveries.ts'
import {
  collectFault,
  type FilterFlags,
  filterOf,
  option,
  parseSeed,
  withAwait,
  withPlace,
  withQuery,
  withWorkspace,
  withYes,
} from './options.ts'
import { discard, replayDeliveries, retry } from './replay-and-discard.ts'
import { sendEvents } from './send-events.ts'
import { show } from './show-delivery.ts'
import { type CallFlags, callVerb, type Typed, type Verb } from './verb.ts'

interface WaitFlags extends FilterFlags {
  readonly count?: number
  readonly idle?: boolean
  readonly timeout: Duration
}

const withSelection = withQuery(QUERIES.Selection)
const ids = ['[ids...]', 'delivery or event ids'] as const
const data = option(
  '--data <file or json>',
  'event data, merged over sample data: JSON, the path of a JSON file, or - for standard input',
)
const rawData = option('--raw-data <file or json>', 'complete event data, sent unchanged: 1.10 stays 1.10')

/** Verbs of `ackhook emulator` for deliveries. */
export const DELIVERY_VERBS: readonly Verb<never>[] = [
  {
    name: 'send',
    description: "Send an event, and wait for the receiver's first reply",
    args: [['[type]', 'event type, such as conversation.resolved']],
    options: [
      option(
        '--from-file <path>',
        'send the recorded or saved deliveries of this file or folder, each as a new event',
      ),
      data,
      rawData,
      option('--id <id>', 'event id (default: a new one for each)'),
      option('--seed <n>', 'the same seed gives the same sample data', parseSeed),
      option('--repeat <n>', 'send this many events', parseCount, 1),
      option('--fault <name=chance>', 'for these events only, such as duplicate or lostReply', collectFault),
      withWorkspace,
      withAwait,
      withPlace,
    ],
    run: sendEvents,
  },
  callVerb<DeliveryPage>({
    name: 'list',
    route: 'GET /deliveries',
    description: 'List deliveries, newest first',
    lines: pageLines,
  }),
  {
    name: 'show',
    description: 'Show a delivery: the exact bytes, and each attempt with its reply',
    args: [['<id>', 'delivery or event id']],
    options: [
      option('--body', 'print only the event, for replay --body'),
      option('--curl', 'print commands that sign the last request again and send it with curl'),
      option('--test', 'print a Vitest file that delivers the event to your receiver'),
      option(
        '--save <file>',
        'save the exact last request for verify and send --from-file; - writes standard output',
      ),
      withPlace,
    ],
    run: show,
  },
  {
    name: 'replay',
    description: 'Send deliveries again: by id, or all undelivered ones with --all',
    args: [ids],
    options: [
      option('--all', 'all undelivered deliveries; with a filter, all that match'),
      option('--exact', "the last attempt's exact request, including its signature"),
      option('--data <file or json>', 'a new event, with this merged over the data that was sent'),
      rawData,
      option('--body <file>', 'a new event with this text as its body; - reads standard input'),
      option('--to <url>', "another address than the endpoint's, which gets nothing", parseUrl),
      option('--dry-run', 'only count the matches'),
      withYes,
      withSelection,
      withAwait,
      withPlace,
    ],
    help: `Without an option, it sends the same event with a new signature. An edited event gets a new id.
With --to, deliveries keep their state. The signature is made with the endpoint's secret.`,
    run: replayDeliveries,
  },
  {
    name: 'retry',
    description: 'Start the next attempt of pending deliveries now',
    args: [['<ids...>', 'delivery or event ids']],
    options: [withAwait, withPlace],
    run: retry,
  },
  callVerb<EventPage>({
    name: 'events',
    route: 'GET /events',
    description:
      'List the events themselves, oldest first, one line of JSON each, also those never delivered',
    help: 'For ackhook inbox ingest, or the list of reconcile. The platform publishes no such call.',
    lines: ({ events }) => events.map(({ body }) => (/[\r\n]/.test(body) ? onOneLine(body) : body)),
  }),
  callVerb<DeliveryPage>({
    name: 'undelivered',
    route: 'GET /undelivered',
    description: 'List undelivered deliveries; exit code 1 if there are any',
    lines: pageLines,
    isGood: ({ deliveries }) => deliveries.length === 0,
  }),
  {
    name: 'discard',
    description: 'Give up deliveries: by id, or all undelivered ones with --all',
    args: [ids],
    options: [
      option('--all', 'all undelivered deliveries; with a filter, all that match'),
      option('--dry-run', 'only count the matches'),
      withYes,
      withSelection,
      withPlace,
    ],
    run: discard,
  },
  callVerb<WaitResult, WaitFlags>({
    name: 'wait',
    route: 'POST /wait',
    description: 'Wait for events; without a filter, until nothing is pending',
    options: [
      option('--count <n>', 'this many different events (default: 1)', parseCount),
      option('--idle', 'until no matching event is pending'),
      option('--timeout <duration>', 'at most this long, up to 60s', parseDuration, '10s' as Duration),
      withSelection,
    ],
    help: 'Exit code 1 if the timeout expires.',
    body: ({ flags }) => {
      const { count, idle, timeout } = flags
      return { ...filterOf(flags), count, idle, timeout }
    },
    lines: waitLines,
    isGood: ({ met }) => met,
  }),
  callVerb<StatsView>({
    name: 'stats',
    route: 'GET /stats',
    description: 'Count deliveries over time, by outcome',
    help: 'Without --from, it counts the last hour.',
    lines: statsLines,
  }),
]

interface EventPage {
  readonly events: readonly ListedEvent[]
}

/** Removes line breaks between tokens, the only ones that JSON has. */
function onOneLine(json: string): string {
  return json.replaceAll(/[\r\n]+\s*/g, '')
}

interface DeliveryPage {
  readonly deliveries: readonly DeliveryView[]
}

function pageLines({ deliveries }: DeliveryPage, { terminal }: Typed<CallFlags>): readonly string[] {
  return deliveries.length === 0 ? ['No deliveries.'] : deliveryLines(deliveries, terminal)
}

/** Formats the deliveries created over time, with a column for each state that occurs. */
function statsLines({ from, to, buckets }: StatsView, { terminal }: Typed<CallFlags>): readonly string[] {
  const { good, bad, dim } = createPaint(terminal.colors)
  const found = buckets.filter(({ counts }) => Object.keys(counts).length > 0)
  if (found.length === 0)
    return [`No deliveries from ${timeText(from, terminal)} to ${timeText(to, terminal)}.`]
  const states = STATES.filter(state => found.some(({ counts }) => counts[state] !== undefined))
  const heads = [
    { title: 'FROM' },
    ...states.map(state => ({ title: state.toUpperCase(), isNumber: true })),
    { title: 'ALL', isNumber: true },
  ]
  const rows = found.map(({ from, counts }): readonly GridCell[] => {
    const all = states.reduce((sum, state) => sum + (counts[state] ?? 0), 0)
    const cells = states.map((state): GridCell => {
      const count = counts[state] ?? 0
      const paint = state === 'acknowledged' ? good : state === 'undelivered' ? bad : String
      return [String(count), count === 0 ? dim : paint]
    })
    return [timeText(from, terminal), ...cells, String(all)]
  })
  return grid(heads, rows, terminal)
}

/** Formats the result of a wait. */
function waitLines(
  { met, count, deliveries }: WaitResult,
  { flags, terminal }: Typed<WaitFlags>,
): readonly string[] {
  const { good, bad } = createPaint(terminal.colors)
  const mark = met ? good('✓') : bad('✗')
  const isIdle =
    flags.idle === true || (flags.count === undefined && Object.keys(filterOf(flags)).length === 0)
  const found = count === 1 ? '1 event matches' : `${count} events match`
  const state = isIdle ? `${met ? 'nothing' : 'something'} is pending` : found
  return [
    `${mark} ${state}${met ? '' : ` after ${flags.timeout}`}`,
    ...(deliveries.length === 0 ? [] : deliveryLines(deliveries, terminal)),
  ]
}

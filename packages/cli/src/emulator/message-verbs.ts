import { printable } from '@ackhook/core/spi'
import type { MessageView, SentEvent } from '@ackhook/emulator'
import { EXIT } from '../command/exit-codes.ts'
import { readData } from '../command/read-data.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { table } from '../terminal/text.ts'
import { withEmulator } from './client.ts'
import { type EndpointFlags, option, type PlaceFlags, withPlace, withWorkspace } from './options.ts'
import { callVerb, report, type Verb } from './verb.ts'

interface SendMessageFlags extends PlaceFlags {
  readonly channel: string
  readonly to: string
  readonly template: string
  readonly variables?: string
}

interface ReceiveMessageFlags extends EndpointFlags {
  readonly from: string
  readonly channel?: string
}

/** Verbs of `ackhook emulator` for messages. */
export const MESSAGE_VERBS: readonly Verb<never>[] = [
  callVerb<{ readonly messages: readonly MessageView[] }>({
    name: 'messages',
    route: 'GET /messages',
    description: 'List the messages of POST /v1/messages, and inbound ones, newest first',
    lines: ({ messages }, { terminal }) =>
      messages.length === 0 ? ['No messages.'] : table(messages.map(messageRow), terminal.columns),
  }),
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
  callVerb<MessageEvent>({
    name: 'messages advance',
    route: 'POST /messages/{id}/advance',
    description: 'Make a message sent, delivered, read or failed, and send its event (a guess)',
    args: [
      ['<id>', 'message id'],
      ['<state>', 'sent, delivered, read or failed'],
    ],
    body: ({ args }) => ({ to: args[1] }),
    lines: messageEventLines,
    typedAs: { to: 'the state' },
  }),
  callVerb<MessageEvent, ReceiveMessageFlags>({
    name: 'messages receive',
    route: 'POST /messages/inbound',
    description: "Simulate a customer's message, and send its event (a guess)",
    args: [['<text>', "text of the customer's message"]],
    options: [
      option('--from <number>', "the customer's number", String, '+4915112345678'),
      option('--channel <name>', 'channel (default: whatsapp)'),
      withWorkspace,
    ],
    body: ({ args, flags: { from, channel, workspace } }) => ({ from, channel, workspace, text: args[0] }),
    lines: messageEventLines,
  }),
]

/** Calls `POST /v1/messages` as an app would, and prints the reply. */
async function sendMessage(
  _: readonly string[],
  flags: SendMessageFlags,
  terminal: Terminal,
): Promise<number> {
  const { channel, to, template } = flags
  const variables =
    flags.variables === undefined ? undefined : await readData(flags.variables, terminal, '--variables')
  return withEmulator(flags, terminal, async emulator => {
    const { status, body } = await emulator.sendMessage({ channel, to, template, variables })
    report({ status, body }, [`${status} ${printable(JSON.stringify(body ?? null))}`], flags, terminal)
    return status >= 200 && status < 300 ? EXIT.ok : EXIT.failed
  })
}

/** Formats a message for a list. */
function messageRow(message: MessageView): readonly string[] {
  const { id, direction, channel, state, createdAt, to, from, template, text } = message
  const who = direction === 'outbound' ? `to ${to}` : `from ${from}`
  return [state, channel, who, template ?? text ?? '', createdAt, id].map(printable)
}

/** Formats a changed message, with the event sent for it. */
interface MessageEvent {
  readonly message: MessageView
  readonly event: SentEvent
}

function messageEventLines({ message, event }: MessageEvent): readonly string[] {
  const [delivery] = event.deliveries
  const type = printable(delivery?.type ?? '')
  const fate = delivery?.reason == null ? 'is on its way' : `was not sent: ${printable(delivery.reason)}`
  return [`${message.id} is ${message.state}. The event ${event.id} (${type}, a guess) ${fate}.`]
}

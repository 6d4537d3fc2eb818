import type { MessageView } from '@ackhook/emulator'
import { table } from '../../terminal/table.ts'
import { callVerb } from '../lib/call-verb.ts'
import { withPlace, withWorkspace } from '../lib/shared-options.ts'
import { option, type Verb } from '../lib/verb.ts'
import { messageRow } from './describe-message.ts'
import { type MessageEvent, messageEventLines } from './message-event-lines.ts'
import type { ReceiveMessageFlags } from './message-flags.ts'
import { sendMessage } from './send-message.ts'

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

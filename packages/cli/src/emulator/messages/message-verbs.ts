import { withPage, withPlace, withWorkspace } from '../lib/shared-options.ts'
import { option, type Verb } from '../lib/verb.ts'
import { advanceMessage } from './advance-message.ts'
import { listMessages } from './list-messages.ts'
import { receiveMessage } from './receive-message.ts'
import { sendMessage } from './send-message.ts'

/** What `ackhook emulator` does with messages. */
export const MESSAGE_VERBS: readonly Verb<never>[] = [
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

import { DELIVERY_VERBS } from './deliveries/delivery-verbs.ts'
import { ENDPOINT_VERBS } from './endpoints/endpoint-verbs.ts'
import type { Verb } from './lib/verb.ts'
import { MESSAGE_VERBS } from './messages/message-verbs.ts'
import { SERVER_VERBS } from './server/server-verbs.ts'
import { START } from './server/start-verb.ts'

/** All verbs by heading in the help. A verb precedes those that begin with its name. */
export const VERBS: Readonly<Record<string, readonly Verb<never>[]>> = {
  'Start here:': [START],
  'Deliveries:': DELIVERY_VERBS,
  'Endpoint:': ENDPOINT_VERBS,
  'Messages:': MESSAGE_VERBS,
  'Emulator:': SERVER_VERBS,
}

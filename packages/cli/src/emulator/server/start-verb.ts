import {
  parseCount,
  parseDuration,
  parsePort,
  parseUrl,
  withContract,
  withInsecure,
  withJson,
  withSecret,
  withSentUnit,
} from '../../command/shared-options.ts'
import { DEFAULT_PORT } from '../lib/emulator-client.ts'
import { collect, collectFault, parseSeed } from '../lib/shared-options.ts'
import { option, type Verb } from '../lib/verb.ts'
import { start } from './start.ts'

const HELP = `No configuration is required. Without a secret in SIGNING_SECRET or --secrets-file, it generates one and prints it once.
Values that the platform has not published, such as its number of attempts, are guesses here and can be set.
--json prints one line when the emulator is ready, then one line for each attempt.

Examples:
  $ ackhook emulator start --to http://localhost:3000/webhooks
  $ ackhook emulator start --to http://localhost:3000/webhooks --data emulator.db --fault duplicate=0.1
  $ ackhook emulator start --host 0.0.0.0 --allow-host emulator --allow-target app --to http://app:3000/webhooks`

/** The one verb that needs no running emulator. */
export const START: Verb<never> = {
  name: 'start',
  description: 'Start the emulator, and show each delivery until Ctrl-C',
  options: [
    option('--to <url>', "the receiver's address", parseUrl),
    option('--port <n>', 'port to listen on; 0 picks a free one', parsePort, DEFAULT_PORT),
    option('--host <address>', 'address to listen on; any but loopback requires ACKHOOK_EMULATOR_TOKEN'),
    option('--allow-host <name>', 'another host name to accept, such as emulator in Compose', collect),
    option(
      '--allow-target <host>',
      'another host that deliveries may go to, such as app in Compose',
      collect,
    ),
    option('--https-only', 'refuse receivers without TLS, as the platform does'),
    option('--data <file>', 'keep the log and pending deliveries in this file (default: in memory)'),
    option('--seed <n>', 'the same seed repeats the same faults and delays', parseSeed),
    option('--attempts <n>', 'attempts for each event (default: 8, a guess)', parseCount),
    option('--timeout <duration>', 'how long to wait for each reply (default: 10s, a guess)', parseDuration),
    option('--min-delay <duration>', 'delay before the second attempt (default: 5s, a guess)', parseDuration),
    option('--max-delay <duration>', 'longest delay between attempts (default: 1h, a guess)', parseDuration),
    option('--fault <name=chance>', 'such as duplicate=0.1, lostReply=0.05 or delay=2s', collectFault),
    option('--quiet', 'do not show deliveries'),
    withSecret,
    withContract,
    withSentUnit,
    withInsecure,
    withJson,
  ],
  help: HELP,
  run: start,
}

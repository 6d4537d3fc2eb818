import type { Duration } from '@ackhook/core'
import { Command } from 'commander'
import type { Finish } from '../program.ts'
import {
  type ContractFlags,
  parseDuration,
  parseUrl,
  type SecretFlags,
  withContract,
  withJson,
  withSecret,
} from '../shared-options.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { replay } from './replay.ts'

export interface ReplayFlags extends SecretFlags, ContractFlags {
  readonly to: string
  readonly resign?: boolean
  readonly timeout: Duration
  readonly json?: boolean
}

export function replayCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('replay')
    .description('Send saved deliveries again: the same bytes, signed as they were or anew')
    .argument('<path>', 'a saved delivery, or a directory of them')
    .requiredOption('--to <url>', 'address of the receiver', parseUrl)
    .option('--resign', 'sign the same bytes again with your secret and the time of now')
    .option('--timeout <duration>', 'how long to wait for each reply', parseDuration, '10s' as Duration)
    .addHelpText('after', HELP)
    .action(async (path: string, flags: ReplayFlags) => finish(await replay(path, flags, terminal)))
  return withJson(withContract(withSecret(command)))
}

const HELP = `
Without --resign the old signature and its old time are sent: a receiver refuses that once its tolerance
(5 minutes by default) is over. Exit code 0 when every delivery was acknowledged, 1 otherwise.

Examples:
  $ ackhook replay deliveries --to http://localhost:3000/webhooks --resign
  $ ackhook replay deliveries/one.json --to http://localhost:3000/webhooks`

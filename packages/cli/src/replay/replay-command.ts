import type { Duration } from '@ackhook/core'
import { Command } from 'commander'
import type { Finish } from '../command/finish.ts'
import {
  parseDuration,
  parseUrl,
  withContract,
  withInsecure,
  withJson,
  withSecret,
  withSentUnit,
} from '../command/shared-options.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { replay } from './replay.ts'
import type { ReplayFlags } from './replay-flags.ts'

export function replayCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('replay')
    .description('Send saved deliveries again: the same bytes, with the old signature or a new one')
    .argument('<path>', 'a saved delivery, or a directory of them')
    .requiredOption('--to <url>', "the receiver's address", parseUrl)
    .option('--resign', 'sign the same bytes again, with your secret and the current time')
    .option('--timeout <duration>', 'how long to wait for each reply', parseDuration, '10s' as Duration)
    .addHelpText('after', HELP)
    .action(async (path: string, flags: ReplayFlags) => finish(await replay(path, flags, terminal)))
  return withJson(withInsecure(withSentUnit(withContract(withSecret(command)))))
}

const HELP = `
Without --resign, the original signature and time are sent: a receiver refuses them once they are older than
its tolerance (5 minutes by default). Exit code 0 if every delivery was acknowledged, 1 otherwise.

Examples:
  $ ackhook replay deliveries --to http://localhost:3000/webhooks --resign
  $ ackhook replay deliveries/one.json --to http://localhost:3000/webhooks`

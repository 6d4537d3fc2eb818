import type { Duration } from '@ackhook/core'
import { Command } from 'commander'
import type { Finish } from '../command/finish.ts'
import {
  parseCount,
  parseDuration,
  parsePort,
  parseUrl,
  withContract,
  withInsecure,
  withJson,
  withSecret,
  withTolerance,
} from '../command/shared-options.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { listen } from './listen.ts'
import type { ListenFlags } from './listen-flags.ts'

export function listenCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('listen')
    .description('Show each delivery that arrives: verified or not, and why')
    .option('--port <n>', 'port to listen on; 0 picks a free one', parsePort, 4000)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--forward <url>', "forward each delivery, byte for byte, and return your app's reply", parseUrl)
    .option('--timeout <duration>', "how long to wait for your app's reply", parseDuration, '30s' as Duration)
    .option('--save <dir>', 'save each delivery to a file for replay and verify')
    .option('--count <n>', 'end after this many deliveries', parseCount)
    .addHelpText('after', HELP)
    .action(async (flags: ListenFlags) => finish(await listen(flags, terminal)))
  return withJson(withInsecure(withTolerance(withContract(withSecret(command)))))
}

const HELP = `
Without a secret, every delivery is accepted and shown as not verified. Press Ctrl-C to stop.
Exit code 0; with --count, 1 if a delivery did not verify.
--json prints a line with the address, then one line of JSON for each delivery.

Examples:
  $ ackhook listen --port 4000
  $ ackhook listen --forward http://localhost:3000/webhooks --save deliveries`

import { DOCS } from '@ackhook/core/spi'
import { Command } from 'commander'
import type { Finish } from '../command/finish.ts'
import {
  collect,
  parseCount,
  parsePath,
  parseUrl,
  withInsecure,
  withJson,
  withSecret,
} from '../command/shared-options.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { conformance } from './conformance.ts'
import type { ConformanceFlags } from './conformance-flags.ts'

export function conformanceCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('conformance')
    .description('Test a store, an inbox or a running receiver against the published cases')
    .option('--store <module>', 'a module that exports open, as in storeSuite({ open })', parsePath)
    .option('--inbox <module>', 'a module that exports open and capabilities, as in inboxSuite', parsePath)
    .option('--url <url>', 'address of a running receiver, such as http://localhost:3000/webhooks', parseUrl)
    .option('--body-limit <bytes>', "with --url: the receiver's bodyLimit (default: 1048576)", parseCount)
    .option('--case <id>', 'run only this case; may be repeated', collect)
    .option('--list', 'print the cases without running them')
    .addHelpText('after', HELP)
    .action(async (flags: ConformanceFlags) => finish(await conformance(flags, terminal)))
  return withJson(withInsecure(withSecret(command)))
}

const HELP = `
A module exports the options of its suite in @ackhook/testing: open, and any of the other hooks. Cases whose hook
is missing are listed but not run. Connections that the module leaves open are cut at the end.
${DOCS}extending/writing-a-store.md has an example.

--url needs the receiver's signing secret. The receiver must acknowledge events at once and must not be in
production: its handlers get about 100 conversation.resolved events. Cases that need an adapter's code are not run.

Exit code 0 if every case that ran passed, 1 if one failed, 2 if the command could not start.

Examples:
  $ ackhook conformance --store ./store.js
  $ ackhook conformance --inbox ./inbox.js --json
  $ ackhook conformance --inbox ./inbox.js --case durable-retry
  $ ackhook conformance --store ./store.js --list
  $ SIGNING_SECRET=only-for-trying-it-out ackhook conformance --url http://localhost:3000/webhooks`

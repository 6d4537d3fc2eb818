import { Command } from 'commander'
import type { Finish } from '../command/finish.ts'
import { withContract, withJson, withSecret, withTolerance } from '../command/shared-options.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { verify } from './verify.ts'
import type { VerifyFlags } from './verify-flags.ts'

export function verifyCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('verify')
    .description('Explain why a saved delivery does not verify, and how to fix it')
    .argument('<path>', 'a saved delivery, or a directory of them')
    .addHelpText('after', HELP)
    .action(async (path: string, flags: VerifyFlags) => finish(await verify(path, flags, terminal)))
  return withJson(withTolerance(withContract(withSecret(command))))
}

const HELP = `
Set SIGNING_SECRET to exactly the secret that your app uses, and SIGNING_SECRET_2 to SIGNING_SECRET_9 to others
that may be the right one. Each delivery is judged at the time of its arrival. Nothing is sent anywhere.
Exit code 0 if everything verifies, 1 otherwise.

Examples:
  $ ackhook verify deliveries/one.json
  $ ackhook verify deliveries --secrets-file .env --json`

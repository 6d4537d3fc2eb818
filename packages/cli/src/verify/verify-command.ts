import type { Duration } from '@ackhook/core'
import { Command } from 'commander'
import type { Finish } from '../program.ts'
import {
  type ContractFlags,
  type SecretFlags,
  withContract,
  withJson,
  withSecret,
  withTolerance,
} from '../shared-options.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { verify } from './verify.ts'

export interface VerifyFlags extends SecretFlags, ContractFlags {
  readonly tolerance: Duration
  readonly json?: boolean
}

export function verifyCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('verify')
    .description('Say why a saved delivery does not verify, and what to do about it')
    .argument('<path>', 'a saved delivery, or a directory of them')
    .addHelpText('after', HELP)
    .action(async (path: string, flags: VerifyFlags) => finish(await verify(path, flags, terminal)))
  return withJson(withTolerance(withContract(withSecret(command))))
}

const HELP = `
Give it the secret that your app uses as ACKHOOK_SECRET, exactly as your app has it, and other secrets
that might be the right one as ACKHOOK_SECRET_2 to ACKHOOK_SECRET_9. The time of arrival in the file
counts as now. Nothing is sent anywhere. Exit code 0 when everything verifies, 1 otherwise.

Examples:
  $ ackhook verify deliveries/one.json
  $ ackhook verify deliveries --env-file .env --json`

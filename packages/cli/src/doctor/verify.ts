import { relative } from 'node:path'
import type { Duration } from '@ackhook/core'
import { printable, resolveContract } from '@ackhook/core/spi'
import { Command } from 'commander'
import { EXIT } from '../command/exit-codes.ts'
import type { Finish } from '../command/finish.ts'
import {
  type ContractFlags,
  contractOf,
  type SecretFlags,
  withContract,
  withJson,
  withSecret,
  withTolerance,
} from '../command/shared-options.ts'
import { eventOf } from '../delivery/captured-request.ts'
import { readDeliveries } from '../delivery/delivery-file.ts'
import { resolveSecrets } from '../secrets/resolve-secrets.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { createPaint, excerpt, wrap } from '../terminal/text.ts'
import { diagnose } from './diagnose.ts'
import { type Judged, nameFrozen } from './frozen-timestamp.ts'

interface VerifyFlags extends SecretFlags, ContractFlags {
  readonly tolerance: Duration
  readonly json?: boolean
}

export function verifyCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('verify')
    .description('Explain why a saved delivery does not verify, and how to fix it')
    .argument(
      '<path>',
      'a saved delivery, a directory of them with its unverified ones, or - for standard input',
    )
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

interface Examined extends Judged {
  readonly file: string
  readonly type?: string
}

/** Diagnoses each saved delivery and prints the findings. */
async function verify(path: string, flags: VerifyFlags, terminal: Terminal): Promise<number> {
  const deliveries = await readDeliveries(path, terminal, { unverified: true })
  const secrets = await resolveSecrets(flags, terminal)
  const judged: Examined[] = []
  const { header } = resolveContract(contractOf(flags))
  for (const { file: full, delivery } of deliveries) {
    const file = relative(terminal.cwd, full)
    const options = { secrets, contract: contractOf(flags), tolerance: flags.tolerance }
    const event = eventOf(delivery.body, flags.field)
    judged.push({ file, header, delivery, ...event, ...(await diagnose(delivery, options)) })
  }
  const examined = nameFrozen(judged)
  if (flags.json) terminal.out(JSON.stringify({ deliveries: examined.map(shown) }))
  else for (const one of examined) describe(one, terminal)
  return examined.every(one => one.verified) ? EXIT.ok : EXIT.failed
}

function shown({ delivery: _, header: __, ...examined }: Examined): object {
  return examined
}

function describe({ file, type, id, verified, code, findings }: Examined, terminal: Terminal): void {
  const paint = createPaint(terminal.colors)
  const about = [type, id]
    .map((text = '') => excerpt(text))
    .join(' ')
    .trim()
  terminal.out(
    `${verified ? paint.good('✓') : paint.bad('✗')} ${paint.bold(file)}  ${paint.dim(about)}  ${verified ? paint.good('verifies') : paint.bad(`does not verify: ${code}`)}`,
  )
  for (const { proven, text } of findings) {
    terminal.out(wrap(`${proven ? '' : 'Most likely: '}${printable(text)}`, '  ', terminal.columns))
  }
}

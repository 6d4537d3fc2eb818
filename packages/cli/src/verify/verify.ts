import { relative } from 'node:path'
import { printable } from '@ackhook/core/spi'
import { EXIT } from '../command/exit-codes.ts'
import { contractOf } from '../command/shared-options.ts'
import { eventOf } from '../delivery/event-of.ts'
import { deliveryFiles, readDelivery } from '../delivery/read-delivery.ts'
import { type Diagnosis, diagnose } from '../doctor/diagnose.ts'
import { resolveSecrets } from '../secrets/resolve-secrets.ts'
import { createPaint } from '../terminal/paint.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { wrap } from '../terminal/wrap.ts'
import type { VerifyFlags } from './verify-flags.ts'

interface Examined extends Diagnosis {
  readonly file: string
  readonly type?: string
  readonly id?: string
}

/** Diagnoses each saved delivery and prints the findings. */
export async function verify(path: string, flags: VerifyFlags, terminal: Terminal): Promise<number> {
  const files = deliveryFiles(path, terminal.cwd)
  const deliveries = files.map(file => ({ file: relative(terminal.cwd, file), delivery: readDelivery(file) }))
  const secrets = await resolveSecrets(flags, terminal)
  const examined: Examined[] = []
  for (const { file, delivery } of deliveries) {
    const options = { secrets, contract: contractOf(flags), tolerance: flags.tolerance }
    examined.push({ file, ...eventOf(delivery.body, flags.field), ...(await diagnose(delivery, options)) })
  }
  if (flags.json) terminal.out(JSON.stringify({ deliveries: examined }))
  else for (const one of examined) describe(one, terminal)
  return examined.every(one => one.verified) ? EXIT.ok : EXIT.failed
}

function describe({ file, type, id, verified, code, findings }: Examined, terminal: Terminal): void {
  const paint = createPaint(terminal.colors)
  const about = printable([type, id].filter(Boolean).join(' '))
  terminal.out(
    `${verified ? paint.good('✓') : paint.bad('✗')} ${paint.bold(file)}  ${paint.dim(about)}  ${verified ? paint.good('verifies') : paint.bad(`does not verify: ${code}`)}`,
  )
  for (const { proven, text } of findings) {
    terminal.out(wrap(`${proven ? '' : 'Most likely: '}${printable(text)}`, '  ', terminal.columns))
  }
}

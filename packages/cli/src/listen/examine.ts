import { relative, resolve } from 'node:path'
import { contractOf } from '../command/shared-options.ts'
import type { CapturedRequest } from '../delivery/captured-request.ts'
import { eventOf } from '../delivery/event-of.ts'
import { saveDelivery } from '../delivery/save-delivery.ts'
import { diagnose } from '../doctor/diagnose.ts'
import type { NamedSecret } from '../secrets/resolve-secrets.ts'
import type { Arrival } from './arrival.ts'
import type { ListenFlags } from './listen-flags.ts'

/** Verifies a request, and saves it if `--save` is set. */
export async function examine(
  request: CapturedRequest,
  secrets: readonly NamedSecret[],
  flags: ListenFlags,
  cwd: string,
): Promise<Arrival> {
  const { receivedAt, method, url, body } = request
  const arrival = {
    at: receivedAt,
    method,
    url,
    ...eventOf(body, flags.field),
    bytes: body.length,
    ...(flags.save !== undefined && {
      saved: relative(cwd, saveDelivery(resolve(cwd, flags.save), request, flags.field)),
    }),
  }
  if (secrets.length === 0) return { ...arrival, verified: undefined, findings: [] }
  const diagnosis = await diagnose(request, diagnoseOptions(secrets, flags))
  // During a rotation, a receiver with all of these secrets accepts a signature under any of them.
  const byAnother = diagnosis.findings.length === 1 && diagnosis.findings[0]?.cause === 'secret-other'
  return { ...arrival, ...diagnosis, verified: diagnosis.verified || byAnother }
}

/** Refuses a secret that every receiver would refuse at the start, not at the first delivery. */
export async function probeSecrets(secrets: readonly NamedSecret[], flags: ListenFlags): Promise<void> {
  if (secrets.length === 0) return
  const empty = { method: 'POST', url: '/', headers: [], body: new Uint8Array(), receivedAt: 0 }
  await diagnose(empty, diagnoseOptions(secrets, flags))
}

function diagnoseOptions(secrets: readonly NamedSecret[], flags: ListenFlags) {
  return { secrets, contract: contractOf(flags), tolerance: flags.tolerance }
}

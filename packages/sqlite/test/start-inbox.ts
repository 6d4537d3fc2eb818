import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Delivery, Inbox, Observation } from '@ackhook/core'
import type { Attempt, AttemptResult, ProcessEvent, ProcessingPolicy } from '@ackhook/core/spi'

let count = 0

export function newDelivery(parts: Partial<Delivery> = {}): Delivery {
  const id = parts.id ?? `evt_${count++}`
  const key = createHash('sha256').update(id).digest('base64url').slice(0, 22)
  const body = new TextEncoder().encode(JSON.stringify({ id }))
  return { key, namespace: '', id, type: 'a.b', body, fingerprint: 1, receivedAt: Date.now(), ...parts }
}

function policyWith(parts: Partial<ProcessingPolicy> = {}): ProcessingPolicy {
  return {
    acknowledge: 'immediately',
    concurrency: 4,
    capacity: 10_000,
    handlerTimeoutMs: 60_000,
    retry: { attempts: 5, minDelayMs: 10, maxDelayMs: 50, factor: 2 },
    retentionMs: 3_600_000,
    serialize: false,
    clock: Date.now,
    observe: () => {},
    logger: { info() {}, warn() {}, error() {} },
    ...parts,
  }
}

const complete: ProcessEvent = async () => ({ outcome: 'completed' })

/** Starts `inbox` and collects its deliveries and observations. */
export async function startInbox(
  inbox: Inbox,
  parts: Partial<ProcessingPolicy> = {},
  run: ProcessEvent = complete,
): Promise<{ readonly ran: Delivery[]; readonly seen: Observation[] }> {
  const ran: Delivery[] = []
  const seen: Observation[] = []
  const work: ProcessEvent = (delivery, attempt) => {
    ran.push(delivery)
    return endsWhenWithdrawn(run(delivery, attempt), attempt)
  }
  await inbox.start(work, policyWith({ observe: observation => seen.push(observation), ...parts }))
  return { ran, seen }
}

/** Ends like the worker of core: once the attempt is withdrawn, whatever its handlers do. */
function endsWhenWithdrawn(
  working: AttemptResult | Promise<AttemptResult>,
  attempt: Attempt,
): Promise<AttemptResult> {
  const withdrawn = new Promise<AttemptResult>(resolve => {
    attempt.onAbort(error => resolve({ outcome: 'retry', delayMs: 0, error }))
  })
  return Promise.race([working, withdrawn])
}

/** Runs `body` with a new folder, removed afterwards. */
export async function withFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
  try {
    await body(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

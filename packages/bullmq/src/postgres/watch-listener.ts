import { settlesWithin } from '@ackhook/core/spi'
import type { ListenClient, PostgresBackend } from '../engine/bullmq-internals.ts'

/**
 * Replaces the connection on which BullMQ listens for new jobs if it gives no reply. It only receives, so a network that
 * has dropped it goes unnoticed until the system's own checks, minutes later, and every event would wait for the next
 * poll. Asks whenever the worker begins to wait.
 */
export function watchListener(backend: PostgresBackend, silenceMs: number): void {
  const { connection } = backend
  const getListenClient = connection.getListenClient.bind(connection)
  let listening: ListenClient | undefined
  connection.getListenClient = async () => {
    listening = await getListenClient()
    return listening
  }
  const waitForJob = backend.waitForJob.bind(backend)
  backend.waitForJob = timeoutS => {
    if (listening !== undefined) void replaceIfSilent(listening, silenceMs)
    return waitForJob(timeoutS)
  }
}

async function replaceIfSilent(client: ListenClient, silenceMs: number): Promise<void> {
  // A refusal is a reply too.
  if (await settlesWithin(client.query('SELECT'), silenceMs)) return
  // BullMQ listens on another connection when this one ends.
  client.connection?.stream?.destroy()
}

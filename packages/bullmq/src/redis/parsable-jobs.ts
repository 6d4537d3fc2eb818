import type { RedisBackend } from '../engine/bullmq-internals.ts'
import { wrapRaw } from '../engine/unreadable-job.ts'

/** Fields that BullMQ parses, with their defaults. */
const JSON_FIELDS: Readonly<Record<string, string>> = {
  opts: '{}',
  progress: '0',
  parent: '',
  stacktrace: '[]',
  returnvalue: 'null',
}

/**
 * Lets a worker take a job whose fields BullMQ cannot parse. BullMQ would throw between the lock and the handlers: the
 * job's lock would expire again and again, and the job would never become a dead letter.
 */
export function parsableJobs(backend: RedisBackend): void {
  const execCommand = backend.execCommand.bind(backend)
  backend.execCommand = async (client, command, args) => {
    const reply = await execCommand(client, command, args)
    const fields: unknown = Array.isArray(reply) ? reply[0] : undefined
    if (Array.isArray(fields)) makeParsable(fields)
    return reply
  }
}

/** Replaces unparsable values. The fields are alternating names and values of the job that a script has taken. */
function makeParsable(fields: unknown[]): void {
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [name, value] = [String(fields[i]), String(fields[i + 1])]
    const without = JSON_FIELDS[name]
    if ((name !== 'data' && without === undefined) || isJson(value)) continue
    fields[i + 1] = without ?? wrapRaw(value)
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

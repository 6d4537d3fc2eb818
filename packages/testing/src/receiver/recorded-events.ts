import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigurationError, type WebhookEvent } from '@ackhook/core'

/**
 * Reads the events of recorded deliveries, as they arrived: of a file, or of all `.json` files of a folder in the order of
 * their names. Reads what `recordDeliveries` of `@ackhook/contract` writes, and what `ackhook listen --save` does. Throws
 * `ConfigurationError` that names the file.
 *
 * @example
 * const app = testReceiver(hooks, { secret })
 * for (const event of recordedEvents('recorded')) await app.deliverEvent(event)
 */
export function recordedEvents(path: string): readonly WebhookEvent<string, object>[] {
  return filesOf(path).map(file => {
    try {
      return eventOf(JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, '')))
    } catch (cause) {
      throw new ConfigurationError('path', `${file} is no recorded delivery: ${(cause as Error).message}`)
    }
  })
}

function filesOf(path: string): readonly string[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) throw new ConfigurationError('path', `there is no file or folder ${path}`)
  if (!stats.isDirectory()) return [path]
  const names = readdirSync(path).filter(name => name.endsWith('.json'))
  if (names.length === 0) throw new ConfigurationError('path', `the folder ${path} has no recorded delivery`)
  return names.sort().map(name => join(path, name))
}

function eventOf(file: unknown): WebhookEvent<string, object> {
  const { event, body } = Object(file) as { readonly event?: unknown; readonly body?: unknown }
  const read: unknown = typeof body === 'string' ? JSON.parse(Buffer.from(body, 'base64').toString()) : event
  if (typeof read === 'object' && read !== null) return read as WebhookEvent<string, object>
  throw new Error("it has neither an 'event' nor a 'body'")
}

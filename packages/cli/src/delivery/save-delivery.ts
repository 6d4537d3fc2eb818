import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EnvelopeFields } from '@ackhook/core'
import type { CapturedRequest } from './captured-request.ts'
import { toDeliveryFile } from './delivery-file.ts'
import { eventOf } from './event-of.ts'

const LONGEST_PART = 60

/** Writes a delivery to a new file that only this user can read, named by time, type and id. Returns the path. */
export function saveDelivery(
  directory: string,
  delivery: CapturedRequest,
  fields?: Partial<EnvelopeFields>,
): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const text = `${JSON.stringify(toDeliveryFile(delivery), null, 2)}\n`
  const name = nameOf(delivery, fields)
  for (let count = 1; ; count++) {
    const path = join(directory, `${name}${count === 1 ? '' : `-${count}`}.json`)
    try {
      writeFileSync(path, text, { flag: 'wx', mode: 0o600 })
      return path
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

function nameOf({ body, receivedAt }: CapturedRequest, fields?: Partial<EnvelopeFields>): string {
  const { type, id } = eventOf(body, fields)
  const time = new Date(receivedAt).toISOString().replaceAll(':', '-')
  return [time, safe(type ?? 'unknown'), safe(id ?? 'no-id')].join('_')
}

/** Types and ids are untrusted: no path, no hidden file, no endless name. */
function safe(text: string): string {
  return text.replace(/[^A-Za-z0-9._-]/g, '-').slice(0, LONGEST_PART)
}

import { Client } from '@ackhook/client'

const message = {
  channel: 'whatsapp',
  to: '+4915112345678',
  template: 'order_shipped',
  variables: { order: 'A-1' },
}

/**
 * Runs on the runtime: makes one call for each kind of reply from the fault server in `client-faults.mjs`, and returns the
 * faults. `refused`: an address without a server. `tells`: the runtime reports that nothing was sent there.
 */
export async function callClient({ faults, refused, tells }) {
  const wrong = []
  const call = async (path, options, expected) => {
    const base = path === 'refused' ? refused : `${faults}/${path}`
    const { messages } = new Client({ apiKey: 'the-key', baseUrl: base, timeout: '10s' })
    const { status, body, code, sent, name } = await messages.send(message, options).catch(error => error)
    const got = JSON.stringify({ status, body, code: name === 'AbortError' ? name : code, sent })
    if (got !== JSON.stringify(expected)) wrong.push(`${path}: ${got} instead of ${JSON.stringify(expected)}`)
  }
  const any = { attempts: 3, on: 'any' }
  const unsent = tells ? 'no' : 'unknown'
  await call('ok', {}, { status: 202, body: message })
  await call('empty', {}, { status: 204 })
  await call('broken', {}, { status: 202 })
  await call('huge', {}, { status: 202 })
  await call('refused', {}, { code: 'connection', sent: unsent })
  await call('reset', {}, { code: 'connection', sent: 'unknown' })
  await call('hang', { timeout: '300ms' }, { code: 'timeout', sent: 'unknown' })
  await call('hang', { signal: AbortSignal.abort() }, { code: 'AbortError' })
  await call('redirect', {}, { status: 307, code: 'api' })
  await call('invalid', {}, { status: 422, body: { field: 'to' }, code: 'api' })
  await call(`recovers-${Math.random()}`, { retry: any }, { status: 202, body: message })
  await call(`recovers-${Math.random()}`, {}, { status: 503, code: 'api' })
  return wrong
}

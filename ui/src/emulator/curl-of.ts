import type { DeliveryDetail } from '../../../packages/emulator/src/api/delivery-view.ts'

/** Set by curl itself, or belonging to one connection. */
const NOT_REPEATED = ['content-length', 'host', 'connection', 'transfer-encoding']

/** The last request as a command. Its signature is the old one, so the receiver may find it too old. */
export function curlOf({ log, body }: DeliveryDetail): string {
  const last = log.at(-1)
  const headers = Object.entries(last?.requestHeaders ?? { 'content-type': 'application/json' })
    .filter(([name]) => !NOT_REPEATED.includes(name.toLowerCase()))
    .map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  const text = (last?.requestBody ?? body).text
  const url = last?.url ?? 'http://localhost:3000/webhooks'
  return ['curl -X POST', ...headers, `--data-raw ${quoted(text)}`, quoted(url)].join(' ')
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

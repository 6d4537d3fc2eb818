import type { DeliveryDetail } from '@ackhook/emulator'
import { curlOf } from './curl-of.ts'

/** Shell commands that repeat a delivery's last request with a new signature; undefined before its first attempt. */
export function curlOfDelivery({ log, body }: Pick<DeliveryDetail, 'log' | 'body'>): string | undefined {
  const last = log.at(-1)
  return last && curlOf({ url: last.url, headers: last.requestHeaders, body: last.requestBody ?? body })
}
